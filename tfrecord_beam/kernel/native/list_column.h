// The column of one feature while it is being built: a list of values, or null, for each row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "columns.h"
#include "wire.h"

namespace tfrecord_beam {

enum class Kind : int { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };  // as in plan.py

// Rows come in order and may be left out: a row that was not written when a later one is, is null.
// The row written last can be taken back.
class ListColumn {
 public:
  // `max_bytes`: what the records have together; only a hint of how much to expect.
  ListColumn(std::string_view name, Kind kind, int64_t max_rows, size_t max_bytes)
      : name_(name), max_rows_(max_rows), max_bytes_(max_bytes) {
    offsets_.Reserve(static_cast<size_t>(max_rows + 1) * sizeof(int64_t));
    offsets()[0] = 0;
    const auto bitmap_size = static_cast<size_t>(max_rows + 7) / 8;
    if (bitmap_size != 0) std::memset(validity_.Reserve(bitmap_size), 0xff, bitmap_size);
    SetKind(kind);
  }

  std::string_view name() const { return name_; }
  Kind kind() const { return kind_; }
  int64_t rows() const { return rows_; }

  // Only while the column has no values.
  void SetKind(Kind kind) {
    kind_ = kind;
    if (kind == Kind::kBytes && value_ends_.size() == 0) value_ends_.AppendValue<int64_t>(0);
  }

  // Goes to `row`, which is at or after the end.
  void StartRow(int64_t row) {
    if (rows_ < row) AddNulls(row - rows_);
  }

  void AddVarint(uint64_t value) {
    ReserveValues(sizeof(value));
    values_.AppendValue(value);
    ++values_count_;
  }

  bool AddPackedVarints(std::string_view packed) {
    auto* const begin =
        reinterpret_cast<uint64_t*>(ReserveValues(CountVarints(packed) * sizeof(uint64_t)));
    uint64_t* end = begin;
    if (!DecodeVarints<true>(packed, begin + values_.room() / sizeof(uint64_t), &end)) return false;
    values_.Advance(static_cast<size_t>(end - begin) * sizeof(uint64_t));
    values_count_ += end - begin;
    return true;
  }

  void AddFloats(std::string_view little_endian) {
    ReserveValues(little_endian.size());
    values_.Append(little_endian);
    values_count_ += static_cast<int64_t>(little_endian.size() / sizeof(float));
  }

  void AddBytes(std::string_view bytes) {
    ReserveValues(bytes.size());
    values_.Append(bytes);
    value_ends_.AppendValue(static_cast<int64_t>(values_.size()));
    ++values_count_;
  }

  // Ends the row that was started.
  void FinishRow(bool valid) {
    if (!valid) return AddNulls(1);
    offsets()[++rows_] = values_count_;
  }

  // Takes back all that was added since StartRow(row), whether the row was finished or not.
  void RewindTo(int64_t row) {
    if (rows_ > row) {
      uint8_t& bits = validity_.data()[row / 8];
      const auto bit = static_cast<uint8_t>(1 << (row % 8));
      null_count_ -= (bits & bit) == 0;
      bits = static_cast<uint8_t>(bits | bit);
      rows_ = row;
    }
    values_count_ = offsets()[row];
    const auto count = static_cast<size_t>(values_count_);
    switch (kind_) {
      case Kind::kNone:
        break;
      case Kind::kFloat:
        values_.Truncate(count * sizeof(float));
        break;
      case Kind::kInt64:
        values_.Truncate(count * sizeof(int64_t));
        break;
      case Kind::kBytes:
        value_ends_.Truncate((count + 1) * sizeof(int64_t));
        values_.Truncate(static_cast<size_t>(value_ends_.as<int64_t>()[count]));
        break;
    }
  }

  // Ends the column at `rows` and moves its data out.
  Array Finish(int64_t rows);

 private:
  void AddNulls(int64_t rows);

  // Makes room for `more` bytes of values and returns where.
  uint8_t* ReserveValues(size_t more) {
    if (values_.room() < more) GrowValues(more);
    return values_.end();
  }

  void GrowValues(size_t more);

  int64_t* offsets() { return offsets_.as<int64_t>(); }

  std::string_view name_;
  Kind kind_ = Kind::kNone;
  int64_t max_rows_;
  size_t max_bytes_;
  int64_t rows_ = 0;
  int64_t null_count_ = 0;
  int64_t values_count_ = 0;
  Buffer offsets_;     // int64 [max_rows + 1], a row's values end at offsets_[row + 1]
  Buffer validity_;    // a bit a row
  Buffer values_;      // int64, float, or the bytes of all values
  Buffer value_ends_;  // kBytes: int64, 0 and where each value ends
};

}  // namespace tfrecord_beam
