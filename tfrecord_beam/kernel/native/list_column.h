// Columns under construction: a list of values, or a list of such lists, for each row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "columns.h"
#include "value_buffer.h"

namespace tfrecord_beam {

// Where each list of a column ends and which lists are null. Lists can be removed from the end.
class ListEnds {
 public:
  ListEnds() { ends_.AppendValue<int64_t>(0); }

  int64_t rows() const { return rows_; }

  // Where the lists before `row` end.
  int64_t EndBefore(int64_t row) const { return ends_.as<int64_t>()[row]; }

  int64_t capacity() const { return capacity_; }

  // Makes room for `rows` lists in all. No other function allocates.
  void Reserve(int64_t rows) {
    if (rows > capacity_) Grow(rows);
  }

  void Add(int64_t end) { ends_.as<int64_t>()[++rows_] = end; }

  // To add many lists at once: reserve room, write their ends after `last_end`, then call
  // AddWritten with the last of them.
  int64_t* last_end() { return ends_.as<int64_t>() + rows_; }
  void AddWritten(const int64_t* last_end) { rows_ = last_end - ends_.as<int64_t>(); }

  void AddNulls(int64_t rows);

  // Removes the lists from `row` on.
  void RewindTo(int64_t row);

  // Moves the data out, as lists of `items`.
  Array Finish(std::string_view name, Array items);

 private:
  void Grow(int64_t rows);

  int64_t rows_ = 0;
  int64_t null_count_ = 0;
  int64_t capacity_ = 0;
  Buffer ends_;      // int64 [capacity_ + 1], a list ends at ends_[row + 1]
  Buffer validity_;  // one bit per list, set from rows_ on
};

// A list of values, or null, for each row. Rows are added in order and may be skipped: skipped rows
// become null. Rows can be removed from the end.
class ListColumn {
 public:
  ListColumn(std::string_view name, Kind kind, const Progress& progress)
      : name_(name), values_(kind, progress) {}

  std::string_view name() const { return name_; }
  int64_t rows() const { return lists_.rows(); }
  ValueBuffer& values() { return values_; }
  const ValueBuffer& values() const { return values_; }

  ListEnds& lists() { return lists_; }

  // The column that holds the values: this one.
  ListColumn& innermost() { return *this; }

  // Makes room for `rows` rows in all; only this and Finish allocate rows.
  void Reserve(int64_t rows) { lists_.Reserve(rows); }

  // Goes to `row`, which is at or after the end.
  void StartRow(int64_t row) {
    if (rows() < row) lists_.AddNulls(row - rows());
  }

  // Ends the row that was started, as null if not `valid`; it must not have values then.
  void FinishRow(bool valid) {
    if (!valid) return lists_.AddNulls(1);
    lists_.Add(values_.count());
  }

  // Removes everything added since StartRow(row), whether the row was finished or not.
  void RewindTo(int64_t row) {
    lists_.RewindTo(row);
    values_.Truncate(lists_.EndBefore(row));
  }

  // Ends the column at `rows` and moves its data out.
  Array Finish(int64_t rows);

 private:
  std::string_view name_;
  ValueBuffer values_;
  ListEnds lists_;
};

// A list of steps, or null, for each row; a step is a row of a ListColumn. Rows behave as there.
class NestedColumn {
 public:
  NestedColumn(std::string_view name, Kind kind, const Progress& progress)
      : name_(name), progress_(&progress), steps_("item", kind, progress) {}

  std::string_view name() const { return name_; }
  int64_t rows() const { return lists_.rows(); }
  ValueBuffer& values() { return steps_.values(); }
  const ValueBuffer& values() const { return steps_.values(); }
  ListColumn& innermost() { return steps_; }

  void Reserve(int64_t rows) { lists_.Reserve(rows); }

  void StartRow(int64_t row) {
    if (rows() < row) lists_.AddNulls(row - rows());
  }

  // Begins the next step of the row; `innermost().FinishRow` ends it.
  void StartStep() { MakeRoomForSteps(1); }

  // Makes room for more steps, and returns the lists to which steps are added.
  ListEnds& MakeRoomForSteps(int64_t more) {
    ListEnds& lists = steps_.lists();
    if (lists.rows() + more > lists.capacity()) GrowSteps(more);
    return lists;
  }

  void FinishRow() { lists_.Add(steps_.rows()); }

  void RewindTo(int64_t row) {
    lists_.RewindTo(row);
    steps_.RewindTo(lists_.EndBefore(row));
  }

  Array Finish(int64_t rows);

 private:
  void GrowSteps(int64_t more);

  std::string_view name_;
  const Progress* progress_;
  ListColumn steps_;
  ListEnds lists_;
};

}  // namespace tfrecord_beam
