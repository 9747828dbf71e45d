// Which column a feature of a map goes to, and what is wrong with the names of features.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "decoding.h"
#include "name_index.h"
#include "short_bytes.h"

namespace tfrecord_beam {

// A name that a found column may not have.
struct ReservedName {
  std::string_view name;
  Fault fault;
};

// Those that keep features from looking like the raw-record column.
inline std::vector<ReservedName> ReservedNames(
    const std::optional<std::string>& raw_record_column) {
  if (!raw_record_column) return {};
  return {{*raw_record_column, Fault::kRawColumnCollision}};
}

// Column numbers count from 0: planned columns in their order, found ones as they are found.
class ColumnNames {
 public:
  // Numbers that stand for a column where there is none.
  static constexpr int kUnwanted = -1;     // skip the content
  static constexpr int kCheckedOnly = -2;  // the content must be well formed

  // `reserved` counts only without planned columns; of several names the first is reported.
  ColumnNames(const PlannedColumns& planned, std::vector<ReservedName> reserved)
      : planned_(planned), reserved_(std::move(reserved)) {}

  void StartRecord();

  void StartRow() { next_guess_ = 0; }

  // If the next feature is the one that followed in the row before, gives its column: features
  // mostly come in one order.
  bool Guess(std::string_view name, int* column) {
    const size_t at = next_guess_++;
    if (at >= guesses_.size() || !EqualBytes(guesses_[at].name, name)) return false;
    *column = guesses_[at].column;
    return true;
  }

  // The column where the guess was wrong; the next row is guessed to be like this one. Without
  // planned columns a new name gets the next number.
  int Find(std::string_view name);

  // Forgets the names that the current record has brought.
  void TakeBackRecord();

  // Whether the current record brought names; they are numbered from the answer on.
  size_t first_new() const { return found_before_; }

  // Looks at a name that an entry holds beside its last one.
  void CheckUtf8(std::string_view name);

  // Looks at the name of an entry without a value.
  void CheckNotNested(std::string_view name);

  // Whether FindFailure has something to say, or a new name holds a NUL.
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
  NameIndex found_index_;  // without planned columns: those that the records have shown
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
