#include "value_buffer.h"

#include <algorithm>
#include <utility>

namespace tfrecord_beam {
namespace {

Buffer Finished(Buffer buffer) {
  if (buffer.data() == nullptr) buffer.Reserve(1);  // some consumers do not accept a null pointer
  return buffer;
}

}  // namespace

// Assumes that the remaining rows need as much room as the rows so far, and reserves it at once:
// growing in steps would copy everything several times.
size_t Progress::Expect(size_t taken, size_t most) const {
  constexpr int64_t kEnoughRows = 16;
  if (rows < kEnoughRows || taken > most) return 0;
  const double per_row = static_cast<double>(taken) / static_cast<double>(rows);
  const auto more = static_cast<size_t>(1.05 * per_row * static_cast<double>(max_rows - rows));
  return std::min(more, most - taken);
}

void ValueBuffer::Grow(size_t more) {
  // Each value takes at least one byte in the records.
  const size_t most = progress_->max_bytes * (kind_ == Kind::kInt64 ? sizeof(int64_t) : 1);
  data_.Reserve(std::max(more, progress_->Expect(data_.size(), most)));
}

void ValueBuffer::GrowEnds(size_t more) {
  const size_t most = progress_->max_bytes * sizeof(int64_t);
  ends_.Reserve(std::max(more, progress_->Expect(ends_.size(), most)));
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
