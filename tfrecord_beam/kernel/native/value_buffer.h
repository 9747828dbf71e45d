// The values of one column while they are being added, one list after the other.
#pragma once

#include <cstdint>
#include <string_view>

#include "columns.h"
#include "wire.h"

namespace tfrecord_beam {

enum class Kind : int { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };  // as in plan.py

// The progress of a call, used only to estimate how much room is needed.
struct Progress {
  // Estimates how much more room the remaining rows need if the rows so far took `taken`; the total
  // is at most `most`.
  size_t Expect(size_t taken, size_t most) const;

  int64_t rows = 0;
  int64_t max_rows = 0;
  size_t max_bytes = 0;  // total size of the records
};

// Values of one kind; values can be removed from the end.
class ValueBuffer {
 public:
  // `progress` is read whenever room is reserved.
  ValueBuffer(Kind kind, const Progress& progress) : progress_(&progress) { SetKind(kind); }

  Kind kind() const { return kind_; }
  int64_t count() const { return count_; }

  // Only while there are no values.
  void SetKind(Kind kind) {
    kind_ = kind;
    if (kind == Kind::kBytes && ends_.size() == 0) ends_.AppendValue<int64_t>(0);
  }

  void AddVarint(uint64_t value) {
    Reserve(sizeof(value));
    data_.AppendValue(value);
    ++count_;
  }

  bool AddPackedVarints(std::string_view packed) {
    auto* const begin =
        reinterpret_cast<uint64_t*>(Reserve(CountVarints(packed) * sizeof(uint64_t)));
    uint64_t* end = begin;
    if (!DecodeVarints<true>(packed, begin + data_.room() / sizeof(uint64_t), &end)) return false;
    data_.Advance(static_cast<size_t>(end - begin) * sizeof(uint64_t));
    count_ += end - begin;
    return true;
  }

  void AddFloats(std::string_view little_endian) {
    Reserve(little_endian.size());
    data_.Append(little_endian);
    count_ += static_cast<int64_t>(little_endian.size() / sizeof(float));
  }

  void AddBytes(std::string_view bytes) {
    Reserve(bytes.size());
    data_.Append(bytes);
    MakeRoomForEnds(1)[1] = static_cast<int64_t>(data_.size());
    ends_.Advance(sizeof(int64_t));
    ++count_;
  }

  // To add many values at once: reserve room, write them there, then call AddWritten. Returns where
  // the next value goes.
  uint8_t* MakeRoom(size_t bytes) { return Reserve(bytes); }

  // The same for the ends of kBytes values: returns that of the last value; new ends go after it.
  int64_t* MakeRoomForEnds(size_t values) {
    if (ends_.room() < values * sizeof(int64_t)) GrowEnds(values * sizeof(int64_t));
    return ends_.as<int64_t>() + count_;
  }

  // Adds the values that were written; `bytes` and `count` are the new totals.
  void AddWritten(size_t bytes, int64_t count) {
    data_.Truncate(bytes);
    if (kind_ == Kind::kBytes) ends_.Truncate(static_cast<size_t>(count + 1) * sizeof(int64_t));
    count_ = count;
  }

  // Removes all but the first `count` values.
  void Truncate(int64_t count) {
    count_ = count;
    const auto left = static_cast<size_t>(count);
    switch (kind_) {
      case Kind::kNone:
        break;
      case Kind::kFloat:
        data_.Truncate(left * sizeof(float));
        break;
      case Kind::kInt64:
        data_.Truncate(left * sizeof(int64_t));
        break;
      case Kind::kBytes:
        ends_.Truncate((left + 1) * sizeof(int64_t));
        data_.Truncate(static_cast<size_t>(ends_.as<int64_t>()[left]));
        break;
    }
  }

  // Moves the data out. The kind must be set.
  Array Finish();

 private:
  // Makes room for `more` bytes and returns where they go.
  uint8_t* Reserve(size_t more) {
    if (data_.room() < more) Grow(more);
    return data_.end();
  }

  void Grow(size_t more);
  void GrowEnds(size_t more);

  Kind kind_ = Kind::kNone;
  const Progress* progress_;
  int64_t count_ = 0;
  Buffer data_;  // int64, float, or the bytes of all values
  Buffer ends_;  // kBytes: int64, 0 and where each value ends
};

}  // namespace tfrecord_beam
