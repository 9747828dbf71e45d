// tf.train.Example records -> one Arrow record batch. See _native.pyi for what it means.
//
//   message Example  { Features features = 1; }
//   message Features { map<string, Feature> feature = 1; }
//   message Feature  { oneof kind { BytesList bytes_list = 1;
//                                   FloatList float_list = 2;
//                                   Int64List int64_list = 3; } }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "columns.h"
#include "list_column.h"
#include "name_index.h"

namespace tfrecord_beam {

// As in plan.py, where each is explained.
enum class Fault : int {
  kMalformed = 1,
  kNameNotUtf8 = 2,
  kFeatureLists = 3,
  kNestedExample = 4,
  kRawColumnCollision = 5,
  kNameWithNul = 6,
  kKindMismatch = 7,
};

struct Failure {
  Fault fault;
  int64_t record;
  std::optional<std::string> feature;
  Kind expected = Kind::kNone;
  Kind found = Kind::kNone;
};

struct PlannedColumn {
  std::string name;
  Kind kind;  // kNone: take the kind that the records show
};

// What to decode; immutable, so that threads may share it. Names are distinct.
class ExamplePlan {
 public:
  ExamplePlan(std::optional<std::vector<PlannedColumn>> columns,
              std::optional<std::string> raw_record_column);
  ExamplePlan(const ExamplePlan&) = delete;  // the index points into the names
  ExamplePlan& operator=(const ExamplePlan&) = delete;

  // Absent: all features.
  const std::optional<std::vector<PlannedColumn>>& columns() const { return columns_; }
  const std::optional<std::string>& raw_record_column() const { return raw_record_column_; }
  const NameIndex& index() const { return index_; }

 private:
  std::optional<std::vector<PlannedColumn>> columns_;
  std::optional<std::string> raw_record_column_;
  NameIndex index_;
};

struct DecodeResult {
  Array batch;
  std::vector<Failure> failures;
};

// With `collect_failures` records that fail are left out of the batch; else the first one ends the
// call and the batch is empty. Ends before a row with which rows times columns would be more than
// `max_cells`; the records that were looked at are the rows and the failures.
DecodeResult DecodeExamples(const ExamplePlan& plan, const std::vector<std::string_view>& records,
                            bool collect_failures, int64_t max_cells);

}  // namespace tfrecord_beam
