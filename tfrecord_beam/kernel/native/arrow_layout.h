// The parts common to all types in Arrow's columnar format
// (https://arrow.apache.org/docs/format/Columnar.html), read in place.
#pragma once

#include <cstdint>

#ifdef _MSC_VER
#include <intrin.h>
#endif

#include "arrow_abi.h"
#include "short_bytes.h"

namespace tfrecord_beam {

// The index of the lowest bit that is set in a word that is not 0.
inline int TrailingZeros(uint64_t word) {
#ifdef _MSC_VER
  unsigned long index;
  _BitScanForward64(&index, word);
  return static_cast<int>(index);
#else
  return __builtin_ctzll(word);
#endif
}

// The offsets of lists or bytes, 32 or 64 bits wide. Arrow data need not be aligned.
class Offsets {
 public:
  Offsets() = default;
  Offsets(const void* data, bool wide, int64_t first)
      : data_(static_cast<const char*>(data) + first * (wide ? kWide : kNarrow)), wide_(wide) {}

  int64_t operator[](int64_t i) const {
    if (wide_) return LoadWord<int64_t>(data_ + i * kWide);
    return LoadWord<int32_t>(data_ + i * kNarrow);
  }

 private:
  static constexpr int64_t kWide = sizeof(int64_t);
  static constexpr int64_t kNarrow = sizeof(int32_t);

  const char* data_ = nullptr;
  bool wide_ = false;
};

// Which elements of an array are null.
class Nulls {
 public:
  Nulls() = default;
  explicit Nulls(const ArrowArray& array, int64_t first)
      : valid_(array.null_count == 0 ? nullptr : static_cast<const uint8_t*>(array.buffers[0])),
        first_(first) {}
  static Nulls All() {
    Nulls nulls;
    nulls.all_ = true;
    return nulls;
  }

  bool possible() const { return all_ || valid_ != nullptr; }
  bool operator[](int64_t i) const {
    if (valid_ == nullptr) return all_;
    return (valid_[(first_ + i) / 8] >> ((first_ + i) % 8) & 1) == 0;
  }

  // Calls `visit` with the index of each of `length` elements that is not null.
  template <typename Visit>
  void ForEachValid(int64_t length, const Visit& visit) const {
    if (valid_ == nullptr) {
      for (int64_t i = 0; i < length && !all_; ++i) visit(i);
      return;
    }
    int64_t i = 0;
    for (; (first_ + i) % 8 != 0 && i < length; ++i) {
      if (!(*this)[i]) visit(i);
    }
    for (; i + 64 <= length;
         i += 64) {  // without a branch for each bit, as these are unpredictable
      auto bits = LoadWord<uint64_t>(valid_ + (first_ + i) / 8);
      for (; bits != 0; bits &= bits - 1) visit(i + TrailingZeros(bits));
    }
    for (; i < length; ++i) {
      if (!(*this)[i]) visit(i);
    }
  }

 private:
  const uint8_t* valid_ = nullptr;
  int64_t first_ = 0;
  bool all_ = false;
};

}  // namespace tfrecord_beam
