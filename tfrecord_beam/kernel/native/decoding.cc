#include "decoding.h"

namespace tfrecord_beam {

PlannedColumns::PlannedColumns(std::optional<std::vector<PlannedColumn>> columns)
    : columns_(std::move(columns)) {
  if (!columns_) return;
  for (size_t i = 0; i < columns_->size(); ++i) {
    index_.Add((*columns_)[i].name, static_cast<int>(i));
  }
}

Progress Request::StartProgress() const {
  Progress progress;
  progress.max_rows = num_records();
  for (const std::string_view record : records) progress.max_bytes += record.size();
  return progress;
}

int64_t Request::MostRows(const PlannedColumns& planned) const {
  if (!planned.columns() || planned.columns()->empty()) return num_records();
  const int64_t fitting = max_cells / static_cast<int64_t>(planned.columns()->size());
  return std::min(num_records(), std::max(int64_t{1}, fitting));
}

Array MakeStruct(std::string name, int64_t rows, std::vector<Array> children) {
  Array array;
  array.name = std::move(name);
  array.format = "+s";
  array.length = rows;
  array.buffers.emplace_back();
  array.children = std::move(children);
  return array;
}

Array MakeRawColumn(const std::string& name, const std::vector<std::string_view>& records) {
  const auto rows = static_cast<int64_t>(records.size());
  Progress progress;
  progress.max_rows = rows;
  for (const std::string_view record : records) progress.max_bytes += record.size();
  ListColumn raw(name, Kind::kBytes, progress);
  raw.Reserve(rows);
  for (const std::string_view record : records) {
    raw.values().AddBytes(record);
    raw.FinishRow(true);
    ++progress.rows;
  }
  return raw.Finish(rows);
}

}  // namespace tfrecord_beam
