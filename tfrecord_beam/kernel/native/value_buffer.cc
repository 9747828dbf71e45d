#include "value_buffer.h"

#include <algorithm>
#include <utility>

namespace tfrecord_beam {
namespace {

Buffer Finished(Buffer buffer) {
  if (buffer.data() == nullptr) buffer.Reserve(1);  // consumers may want a pointer in any case
  return buffer;
}

}  // namespace

// All rows probably need as much as the rows so far, so that much is taken at once: to grow by
// steps would copy everything several times.
void ValueBuffer::Grow(size_t more) {
  constexpr int64_t kEnoughRows = 16;
  size_t expected = 0;
  if (progress_->rows >= kEnoughRows) {
    const double per_row = static_cast<double>(data_.size()) / static_cast<double>(progress_->rows);
    const auto rows_left = static_cast<double>(progress_->max_rows - progress_->rows);
    expected = static_cast<size_t>(1.05 * per_row * rows_left);
  }
  // Each value has at least a byte of the records.
  const size_t most = progress_->max_bytes * (kind_ == Kind::kInt64 ? sizeof(int64_t) : 1);
  expected = std::min(expected, most - std::min(most, data_.size()));
  data_.Reserve(std::max(more, expected));
}

Array ValueBuffer::Finish() {
  Array values;
  values.name = "item";
  values.format = kind_ == Kind::kBytes ? "Z" : kind_ == Kind::kFloat ? "f" : "l";
  values.length = count_;
  values.buffers.emplace_back();
  if (kind_ == Kind::kBytes) values.buffers.push_back(Finished(std::move(ends_)));
  values.buffers.push_back(Finished(std::move(data_)));
  return values;
}

}  // namespace tfrecord_beam
