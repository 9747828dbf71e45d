// Common to the decoders of all record types: plans, failures, and the loop over records.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "columns.h"
#include "list_column.h"
#include "name_index.h"
#include "wire.h"

namespace tfrecord_beam {

// As in plan.py, which explains each of them.
enum class Fault : int {
  kMalformed = 1,
  kNameNotUtf8 = 2,
  kFeatureLists = 3,
  kNestedExample = 4,
  kRawColumnCollision = 5,
  kSequenceColumnCollision = 6,
  kNameWithNul = 7,
  kKindMismatch = 8,
};

struct Failure {
  Fault fault;
  int64_t record = 0;
  std::optional<std::string> feature = std::nullopt;
  Kind expected = Kind::kNone;
  Kind found = Kind::kNone;
  bool in_sequence = false;  // the feature is one of the sequence column
};

// Of two failures of one record, the one that is reported.
inline std::optional<Failure> FirstFailure(std::optional<Failure> a, std::optional<Failure> b) {
  return b && (!a || b->fault < a->fault) ? std::move(b) : std::move(a);
}

struct PlannedColumn {
  std::string name;
  Kind kind;  // kNone: the kind found in the records
};

// Which features of a map to decode; immutable, so that threads may share it. Names are distinct.
class PlannedColumns {
 public:
  explicit PlannedColumns(std::optional<std::vector<PlannedColumn>> columns);
  PlannedColumns(const PlannedColumns&) = delete;  // the index points into the names
  PlannedColumns& operator=(const PlannedColumns&) = delete;

  // nullopt: all features.
  const std::optional<std::vector<PlannedColumn>>& columns() const { return columns_; }
  const NameIndex& index() const { return index_; }

 private:
  std::optional<std::vector<PlannedColumn>> columns_;
  NameIndex index_;
};

struct DecodeResult {
  Array batch;
  std::vector<Failure> failures;
};

// With `collect_failures` records that fail are left out of the batch; otherwise the first failure
// ends the call and the batch is empty. Decoding stops before a row that would exceed `max_cells`
// cells; the number of records processed is that of rows plus failures.
struct Request {
  const std::vector<std::string_view>& records;
  bool collect_failures;
  int64_t max_cells;

  int64_t num_records() const { return static_cast<int64_t>(records.size()); }
  Progress StartProgress() const;

  // The largest possible number of rows with these columns.
  int64_t MostRows(const PlannedColumns& planned) const;
};

Array MakeStruct(std::string name, int64_t rows, std::vector<Array> children);

// The column of the records' own bytes.
Array MakeRawColumn(const std::string& name, const std::vector<std::string_view>& records);

// Decodes the records of a request. A `Decoder` has:
//   bool Read(Cursor record)               starts a row; false: the record is malformed
//   std::optional<Failure> FindFailure()   the failure of the record just read, if any
//   int64_t CountCells()                   of the rows so far and the next one
//   void KeepRow(), void TakeBackRow()
//   std::vector<Array> Finish()            the columns
template <typename Decoder>
DecodeResult DecodeRecords(Decoder& decoder, Progress& progress, const Request& request,
                           const std::optional<std::string>& raw_record_column) {
  DecodeResult result;
  std::vector<std::string_view> good;
  const auto has_room = [&] {
    return progress.rows == 0 || decoder.CountCells() <= request.max_cells;
  };
  for (int64_t index = 0; index < request.num_records() && has_room(); ++index) {
    const std::string_view record = request.records[static_cast<size_t>(index)];
    std::optional<Failure> failure =
        decoder.Read(Cursor(record)) ? decoder.FindFailure() : Failure{Fault::kMalformed};
    if (failure) {
      failure->record = index;
      result.failures.push_back(std::move(*failure));
      if (!request.collect_failures) return result;
      decoder.TakeBackRow();
    } else if (!has_room()) {
      decoder.TakeBackRow();  // it has added columns, or examples, that do not fit
      break;
    } else {
      decoder.KeepRow();
      ++progress.rows;
      if (raw_record_column) good.push_back(record);
    }
  }
  std::vector<Array> columns = decoder.Finish();
  if (raw_record_column) columns.push_back(MakeRawColumn(*raw_record_column, good));
  result.batch = MakeStruct("", progress.rows, std::move(columns));
  return result;
}

}  // namespace tfrecord_beam
