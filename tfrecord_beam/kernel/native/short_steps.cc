#include "short_steps.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "short_bytes.h"
#include "value_buffer.h"

namespace tfrecord_beam {
namespace {

// Reserves room for this many bytes of steps at once: few, because numbers can take eight times as
// much room.
constexpr size_t kBytesAtOnce = 4096;
constexpr size_t kSmallestStep = 4;  // a Feature with an empty list

constexpr uint8_t ListTag(Kind kind) { return LengthTag(static_cast<uint32_t>(kind)); }

// A writer adds values to reserved room. It holds the write position itself until it finishes, so
// that the position stays in a register. AddStep adds one step and moves past it, or does nothing.

template <typename T>
class NumberWriter {
 public:
  NumberWriter(ValueBuffer& values, size_t bytes)
      : values_(values),
        end_(reinterpret_cast<T*>(values.MakeRoom(MostBytes(bytes)))),
        begin_(end_ - values.count()) {}

  [[gnu::always_inline]] bool AddStep(Cursor* steps) {
    Cursor rest = *steps;
    Cursor packed;
    if (!rest.TakeShortPacked(ListTag(kKind), &packed) || !Add(packed.bytes())) return false;
    *steps = rest;
    return true;
  }

  int64_t count() const { return end_ - begin_; }

  void Finish() const { values_.AddWritten(static_cast<size_t>(count()) * sizeof(T), count()); }

 private:
  static constexpr Kind kKind = std::is_same_v<T, float> ? Kind::kFloat : Kind::kInt64;

  static size_t MostBytes(size_t bytes) {
    return kKind == Kind::kFloat ? bytes : bytes * sizeof(uint64_t);
  }

  bool Add(std::string_view packed) {
    if constexpr (kKind == Kind::kFloat) {
      if (packed.size() % sizeof(float) != 0) return false;
      CopyBytes(packed, reinterpret_cast<char*>(end_));
      end_ += packed.size() / sizeof(float);
      return true;
    } else {
      return DecodeFewVarints(packed, &end_) ||
             DecodeVarints<true>(packed, end_ + packed.size(), &end_);
    }
  }

  ValueBuffer& values_;
  T* end_;
  T* const begin_;
};

class BytesWriter {
 public:
  BytesWriter(ValueBuffer& values, size_t bytes)
      : values_(values),
        data_(reinterpret_cast<char*>(values.MakeRoom(bytes + sizeof(Word128)))),
        last_(values.MakeRoomForEnds(bytes / 2)),
        begin_(data_ - *last_),
        first_(last_ - values.count()) {}

  [[gnu::always_inline]] bool AddStep(Cursor* steps) {
    int64_t* const before = last_;
    Cursor rest = *steps;
    Cursor list;
    if (!rest.TakeShortField(ListTag(Kind::kBytes), &list)) return false;
    Cursor value;
    while (list.TakeField(LengthTag(1), &value)) {
      CopyBytesWide(value.bytes(), value.left() + list.left() + rest.left(), data_);
      data_ += value.left();
      *++last_ = data_ - begin_;
    }
    if (!list.done()) {
      last_ = before;
      data_ = begin_ + *before;
      return false;
    }
    *steps = rest;
    return true;
  }

  int64_t count() const { return last_ - first_; }

  void Finish() const { values_.AddWritten(static_cast<size_t>(data_ - begin_), count()); }

 private:
  ValueBuffer& values_;
  char* data_;
  int64_t* last_;
  char* const begin_;
  int64_t* const first_;
};

template <typename Writer>
void AddSteps(NestedColumn& column, Cursor* feature_list) {
  Cursor rest = feature_list->First(kBytesAtOnce);
  const size_t bytes = rest.left();
  ListEnds& ends = column.MakeRoomForSteps(static_cast<int64_t>(bytes / kSmallestStep));
  int64_t* last = ends.last_end();
  Writer values(column.values(), bytes);
  while (values.AddStep(&rest)) *++last = values.count();
  values.Finish();
  ends.AddWritten(last);
  feature_list->GoTo(rest);
}

}  // namespace

void AddShortSteps(NestedColumn& column, Cursor* feature_list) {
  switch (column.values().kind()) {
    case Kind::kBytes:
      return AddSteps<BytesWriter>(column, feature_list);
    case Kind::kFloat:
      return AddSteps<NumberWriter<float>>(column, feature_list);
    case Kind::kInt64:
      return AddSteps<NumberWriter<uint64_t>>(column, feature_list);
    case Kind::kNone:
      return;
  }
}

}  // namespace tfrecord_beam
