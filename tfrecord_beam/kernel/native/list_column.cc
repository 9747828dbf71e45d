#include "list_column.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tfrecord_beam {
namespace {

Buffer Finished(Buffer buffer) {
  if (buffer.data() == nullptr) buffer.Reserve(1);  // consumers may want a pointer in any case
  return buffer;
}

}  // namespace

void ListColumn::AddNulls(int64_t rows) {
  uint8_t* const bits = validity_.data();
  const int64_t stop = rows_ + rows;
  null_count_ += rows;
  std::fill(offsets() + rows_ + 1, offsets() + stop + 1, values_count_);
  while (rows_ < stop) {
    if (rows_ % 8 == 0 && stop - rows_ >= 8) {  // whole bytes
      const int64_t bytes = (stop - rows_) / 8;
      std::memset(bits + rows_ / 8, 0, static_cast<size_t>(bytes));
      rows_ += 8 * bytes;
    } else {
      bits[rows_ / 8] = static_cast<uint8_t>(bits[rows_ / 8] & ~(1 << (rows_ % 8)));
      ++rows_;
    }
  }
}

// All rows probably need as much as the rows so far, so that much is taken at once: to grow by
// steps would copy everything several times.
void ListColumn::GrowValues(size_t more) {
  constexpr int64_t kEnoughRows = 16;
  size_t expected = 0;
  if (rows_ >= kEnoughRows) {
    const double per_row = static_cast<double>(values_.size()) / static_cast<double>(rows_);
    expected = static_cast<size_t>(1.05 * per_row * static_cast<double>(max_rows_ - rows_));
  }
  // Each value has at least a byte of the records.
  const size_t most = max_bytes_ * (kind_ == Kind::kInt64 ? sizeof(int64_t) : 1);
  expected = std::min(expected, most - std::min(most, values_.size()));
  values_.Reserve(std::max(more, expected));
}

Array ListColumn::Finish(int64_t rows) {
  StartRow(rows);
  Array list;
  list.name = std::string(name_);
  list.length = rows;
  list.null_count = kind_ == Kind::kNone ? rows : null_count_;
  if (kind_ == Kind::kNone) {
    list.format = "n";
    return list;
  }
  list.format = "+L";
  if (null_count_ != 0) validity_.Advance(static_cast<size_t>(rows + 7) / 8);
  list.buffers.push_back(std::move(validity_));
  offsets_.Advance(static_cast<size_t>(rows + 1) * sizeof(int64_t));
  list.buffers.push_back(std::move(offsets_));
  Array values;
  values.name = "item";
  values.format = kind_ == Kind::kBytes ? "Z" : kind_ == Kind::kFloat ? "f" : "l";
  values.length = values_count_;
  values.buffers.emplace_back();
  if (kind_ == Kind::kBytes) values.buffers.push_back(Finished(std::move(value_ends_)));
  values.buffers.push_back(Finished(std::move(values_)));
  list.children.push_back(std::move(values));
  return list;
}

}  // namespace tfrecord_beam
