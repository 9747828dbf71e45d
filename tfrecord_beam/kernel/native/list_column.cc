#include "list_column.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tfrecord_beam {

void ListEnds::AddNulls(int64_t rows) {
  uint8_t* const bits = validity_.data();
  auto* const ends = ends_.as<int64_t>();
  const int64_t stop = rows_ + rows;
  null_count_ += rows;
  std::fill(ends + rows_ + 1, ends + stop + 1, ends[rows_]);
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

void ListEnds::RewindTo(int64_t row) {
  while (rows_ > row) {
    --rows_;
    uint8_t& bits = validity_.data()[rows_ / 8];
    const auto bit = static_cast<uint8_t>(1 << (rows_ % 8));
    null_count_ -= (bits & bit) == 0;
    bits = static_cast<uint8_t>(bits | bit);
  }
}

void ListEnds::Grow(int64_t rows) {
  capacity_ = std::max(rows, 2 * capacity_);
  // Truncated to what was written, so that no more than that is copied.
  ends_.Truncate(static_cast<size_t>(rows_ + 1) * sizeof(int64_t));
  ends_.Reserve(static_cast<size_t>(capacity_ - rows_) * sizeof(int64_t));
  validity_.Truncate(static_cast<size_t>(rows_ + 7) / 8);
  const size_t fresh = static_cast<size_t>(capacity_ + 7) / 8 - validity_.size();
  std::memset(validity_.Reserve(fresh), 0xff, fresh);
}

Array ListEnds::Finish(std::string_view name, Array items) {
  Array lists;
  lists.name = std::string(name);
  lists.format = "+L";
  lists.length = rows_;
  lists.null_count = null_count_;
  ends_.Truncate(static_cast<size_t>(rows_ + 1) * sizeof(int64_t));
  validity_.Truncate(null_count_ == 0 ? 0 : static_cast<size_t>(rows_ + 7) / 8);
  lists.buffers.push_back(std::move(validity_));
  lists.buffers.push_back(std::move(ends_));
  lists.children.push_back(std::move(items));
  return lists;
}

Array ListColumn::Finish(int64_t rows) {
  if (values_.kind() == Kind::kNone) {
    Array nulls;
    nulls.name = std::string(name_);
    nulls.format = "n";
    nulls.length = rows;
    nulls.null_count = rows;
    return nulls;
  }
  Reserve(rows);
  StartRow(rows);
  return lists_.Finish(name_, values_.Finish());
}

void NestedColumn::GrowSteps(int64_t more) {
  // Each step takes at least one byte in the records.
  const auto steps = static_cast<size_t>(steps_.rows());
  const size_t expected = progress_->Expect(steps, progress_->max_bytes);
  steps_.Reserve(steps_.rows() + std::max(more, static_cast<int64_t>(expected)));
}

Array NestedColumn::Finish(int64_t rows) {
  Reserve(rows);
  StartRow(rows);
  return lists_.Finish(name_, steps_.Finish(steps_.rows()));
}

}  // namespace tfrecord_beam
