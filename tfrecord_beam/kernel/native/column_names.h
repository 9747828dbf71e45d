// Finds the column of each feature of a map, and checks the names of features.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "decoding.h"
#include "name_index.h"
#include "short_bytes.h"

namespace tfrecord_beam {

// A name that an unplanned column must not have.
struct ReservedName {
  std::string_view name;
  Fault fault;
};

// The reserved names that prevent a feature from being confused with the raw-record column.
inline std::vector<ReservedName> ReservedNames(
    const std::optional<std::string>& raw_record_column) {
  if (!raw_record_column) return {};
  return {{*raw_record_column, Fault::kRawColumnCollision}};
}

// Column numbers count from 0: planned columns in their order, others in the order of discovery.
class ColumnNames {
 public:
  // Returned instead of a column number if there is no column.
  static constexpr int kUnwanted = -1;     // skip the content
  static constexpr int kCheckedOnly = -2;  // the content must be well formed

  // `reserved` applies only without planned columns; of several matches the first is reported.
  ColumnNames(const PlannedColumns& planned, std::vector<ReservedName> reserved)
      : planned_(planned), reserved_(std::move(reserved)) {}

  void StartRecord();

  void StartRow() { next_guess_ = 0; }

  // Returns the column of the feature at this position in the row before if the name is the same:
  // features mostly come in the same order.
  bool Guess(std::string_view name, int* column) {
    const size_t at = next_guess_++;
    if (at >= guesses_.size() || !EqualBytes(guesses_[at].name, name)) return false;
    *column = guesses_[at].column;
    return true;
  }

  // The column after a wrong guess; corrects the guess for the next row. Without planned columns a
  // new name gets the next number.
  int Find(std::string_view name);

  // Removes the names that the current record has added.
  void TakeBackRecord();

  // The number of the first name that the current record has added, if it has added any.
  size_t first_new() const { return found_before_; }

  // Checks a name that a later name in the same entry may replace.
  void CheckUtf8(std::string_view name);

  // Checks the name of an entry without a value.
  void CheckNotNested(std::string_view name);

  // Whether FindFailure returns a failure, or a new name holds a NUL.
  bool suspicious() const { return suspicious_; }
  bool name_with_nul() const { return name_with_nul_; }
  std::optional<Failure> FindFailure() const;

 private:
  struct Guessed {
    std::string_view name;
    int column;
  };

  int FindNew(std::string_view name);

  const PlannedColumns& planned_;
  const std::vector<ReservedName> reserved_;
  NameIndex found_index_;  // without planned columns: the names found in the records
  std::vector<std::string_view> found_;
  std::vector<Guessed> guesses_;
  size_t next_guess_ = 0;

  // Of the current record:
  size_t found_before_ = 0;
  bool suspicious_ = false;
  bool not_utf8_ = false;
  bool nested_example_ = false;
  bool name_with_nul_ = false;
  const ReservedName* collision_ = nullptr;
};

}  // namespace tfrecord_beam
