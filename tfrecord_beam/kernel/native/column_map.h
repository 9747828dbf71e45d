// A map from names to values, read into columns: the part common to all types of values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "column_names.h"
#include "decoding.h"
#include "feature.h"
#include "list_column.h"
#include "wire.h"

namespace tfrecord_beam {

// The columns of a map, with the changes made by the current record, which may have several rows.
// `Map` is the derived class, which reads the values of entries: see feature_maps.h.
template <typename Map, typename Column>
class ColumnMap {
 public:
  // `depth`: how many messages enclose the fields of the map; the protobuf library limits nesting.
  // `most_rows`: the largest possible number of rows, or kUnknown.
  ColumnMap(const PlannedColumns& planned, std::vector<ReservedName> reserved,
            const Progress& progress, int depth, int64_t most_rows)
      : depth_(depth),
        planned_(planned.columns().has_value()),
        names_(planned, std::move(reserved)),
        progress_(progress),
        most_rows_(most_rows),
        capacity_(planned_ && most_rows != kUnknown ? most_rows : std::min(most_rows, kFewRows)) {
    if (!planned_) return;
    columns_.reserve(planned.columns()->size());
    for (const PlannedColumn& column : *planned.columns()) AddColumn(column.name, column.kind);
  }

  static constexpr int64_t kUnknown = INT64_MAX;

  int64_t num_columns() const { return static_cast<int64_t>(columns_.size()); }
  int64_t rows() const { return row_; }  // finished ones

  void StartRecord() {
    first_row_ = row_;
    mismatched_ = false;
    names_.StartRecord();
  }

  void StartRow() {
    names_.StartRow();
    if (row_ >= capacity_) Grow();
  }

  void FinishRow() { ++row_; }

  void TakeBackRecord() {
    names_.TakeBackRecord();
    columns_.erase(columns_.begin() + FirstNew(), columns_.end());
    row_ = first_row_;
    for (Target& target : columns_) {
      if (target.column.rows() >= row_) TakeBackRow(target);
    }
  }

  // The failure in the names and kinds of the current record, if any.
  std::optional<Failure> FindFailure() const {
    if (!names_.suspicious() && !mismatched_) return std::nullopt;
    if (std::optional<Failure> failure = names_.FindFailure()) return failure;
    return names_.name_with_nul() ? FindNul() : FindMismatch();
  }

  // Moves the columns out: planned ones in their order, found ones by the bytes of their names.
  std::vector<Array> Finish() {
    std::vector<Array> arrays;
    for (Target& target : columns_) arrays.push_back(target.column.Finish(row_));
    if (!planned_) {
      // Sorts by copies of the names: another thread may modify the records, and names must not
      // change while they are sorted.
      std::sort(arrays.begin(), arrays.end(),
                [](const Array& a, const Array& b) { return a.name < b.name; });
    }
    return arrays;
  }

 protected:
  static constexpr int64_t kNoRow = -1;

  // A column, with the changes made by the current record.
  struct Target {
    Target(std::string_view name, Kind kind, const Progress& progress)
        : column(name, kind, progress) {}
    Column column;
    int64_t adopted_in = kNoRow;   // the row that gave the column its kind
    int64_t mismatch_in = kNoRow;  // the first row that holds another kind
    Kind mismatch = Kind::kNone;   // that kind
  };

  int entry_depth() const { return depth_ + 1; }
  int value_depth() const { return depth_ + 2; }

  // Reads one field of the map's message.
  bool ReadField(Cursor* map) {
    uint32_t field;
    WireType type;
    Cursor entry;
    if (!map->ReadTag(&field, &type)) return false;
    if (field != 1 || type != WireType::kLength) return map->SkipValue(field, type, depth_);
    return map->ReadMessage(&entry) && ReadEntry(entry);
  }

  [[gnu::always_inline]] inline int FindColumn(std::string_view name) {
    int number;
    return names_.Guess(name, &number) ? number : FindOtherColumn(name);
  }

  // Begins the row of a column; drops an earlier entry of the same name: the last one wins.
  Target& StartRowOf(int number) {
    Target& target = columns_[static_cast<size_t>(number)];
    if (target.column.rows() > row_) TakeBackRow(target);
    target.column.StartRow(row_);
    return target;
  }

  // Adds lists of one kind, merged into a single list, to the innermost column.
  bool AddList(Target& target, Kind kind, const Cursor* lists, size_t count, int depth) {
    ListColumn& column = target.column.innermost();
    ValueBuffer& values = column.values();
    if (kind != Kind::kNone && values.kind() == Kind::kNone) {
      values.SetKind(kind);
      target.adopted_in = row_;
    }
    if (kind != Kind::kNone && kind != values.kind()) {
      if (target.mismatch_in == kNoRow) {
        target.mismatch_in = row_;
        target.mismatch = kind;
      }
      mismatched_ = true;
      column.FinishRow(false);
      return CheckLists(kind, lists, count, depth);
    }
    for (size_t i = 0; i < count; ++i) {
      if (!ReadList(kind, lists[i], depth, values)) return false;
    }
    column.FinishRow(kind != Kind::kNone);
    return true;
  }

  static bool CheckLists(Kind kind, const Cursor* lists, size_t count, int depth) {
    return std::all_of(lists, lists + count,
                       [=](const Cursor& list) { return CheckList(kind, list, depth); });
  }

  const int depth_;
  std::vector<Target> columns_;
  int64_t row_ = 0;

 private:
  // Initial capacity of columns that are not planned: there may be very many of them.
  static constexpr int64_t kFewRows = 256;

  Map& map() { return static_cast<Map&>(*this); }

  [[gnu::noinline]] bool ReadEntry(Cursor entry) {
    Cursor usual = entry;  // a name and a value, as every writer writes them
    Cursor name;
    Cursor value;
    if (usual.TakeField(LengthTag(1), &name) && usual.TakeField(LengthTag(2), &value) &&
        usual.done()) {
      const int number = FindColumn(name.bytes());
      return number == ColumnNames::kUnwanted || map().AddValue(number, value);
    }
    return ReadUnusualEntry(entry);
  }

  bool ReadUnusualEntry(Cursor entry) {
    std::string_view name;
    std::vector<Cursor> values;
    while (!entry.done()) {
      uint32_t field;
      WireType type;
      if (!entry.ReadTag(&field, &type)) return false;
      if (field == 1 && type == WireType::kLength) {
        if (!entry.ReadBytes(&name)) return false;
        names_.CheckUtf8(name);
      } else if (field == 2 && type == WireType::kLength) {
        Cursor value;
        if (!entry.ReadMessage(&value)) return false;
        values.push_back(value);
      } else if (!entry.SkipValue(field, type, entry_depth())) {
        return false;
      }
    }
    if (values.empty()) names_.CheckNotNested(name);
    const int number = FindColumn(name);
    return number == ColumnNames::kUnwanted || map().AddParts(number, values);
  }

  [[gnu::noinline]] int FindOtherColumn(std::string_view name) {
    const int number = names_.Find(name);
    if (number == static_cast<int>(columns_.size())) AddColumn(name, Kind::kNone);
    return number;
  }

  void AddColumn(std::string_view name, Kind kind) {
    columns_.emplace_back(name, kind, progress_);
    columns_.back().column.Reserve(capacity_);
  }

  void Grow() {
    capacity_ = std::min(most_rows_, 4 * capacity_);
    for (Target& target : columns_) target.column.Reserve(capacity_);
  }

  void TakeBackRow(Target& target) {
    target.column.RewindTo(row_);
    if (target.mismatch_in >= row_) target.mismatch_in = kNoRow;
    if (target.adopted_in < row_) return;
    target.adopted_in = kNoRow;
    target.column.values().SetKind(Kind::kNone);
  }

  std::ptrdiff_t FirstNew() const {
    return planned_ ? num_columns() : static_cast<std::ptrdiff_t>(names_.first_new());
  }

  std::optional<Failure> FindNul() const {
    std::optional<std::string_view> first;
    for (auto target = columns_.begin() + FirstNew(); target != columns_.end(); ++target) {
      const std::string_view name = target->column.name();
      if (name.find('\0') != std::string_view::npos && (!first || name < *first)) first = name;
    }
    return Failure{Fault::kNameWithNul, 0, std::string(first.value_or(""))};
  }

  std::optional<Failure> FindMismatch() const {
    const Target* first = nullptr;  // in output order
    for (const Target& target : columns_) {
      if (target.mismatch_in == kNoRow) continue;
      if (first == nullptr || (!planned_ && target.column.name() < first->column.name())) {
        first = &target;
      }
    }
    if (first == nullptr) return std::nullopt;  // a later entry of the same name has replaced it
    return Failure{Fault::kKindMismatch, 0, std::string(first->column.name()),
                   first->column.values().kind(), first->mismatch};
  }

  const bool planned_;
  ColumnNames names_;
  const Progress& progress_;
  const int64_t most_rows_;
  int64_t capacity_;  // rows, of all columns

  // Of the current record:
  int64_t first_row_ = 0;
  bool mismatched_ = false;
};

}  // namespace tfrecord_beam
