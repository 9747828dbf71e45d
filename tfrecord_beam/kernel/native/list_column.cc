#include "list_column.h"

#include <utility>

namespace tfrecord_beam {
namespace {

Buffer Finished(Buffer buffer) {
  buffer.Reserve(1);  // consumers may want a pointer even where there is no data
  return buffer;
}

}  // namespace

Array ListColumn::Finish(int64_t rows) {
  StartRow(rows);
  Array list;
  list.name = std::string(name_);
  list.length = rows;
  list.null_count = rows - valid_rows_;
  if (kind_ == Kind::kNone) {
    list.format = "n";
    return list;
  }
  list.format = "+L";
  validity_.Truncate(list.null_count == 0 ? 0 : static_cast<size_t>(rows + 7) / 8);
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
