// Maps from names to features, read into columns:
//
//   message Features     { map<string, Feature> feature = 1; }
//   message FeatureLists { map<string, FeatureList> feature_list = 1; }
//   message FeatureList  { repeated Feature feature = 1; }
#pragma once

#include <cstddef>
#include <vector>

#include "column_map.h"
#include "feature.h"
#include "list_column.h"
#include "short_steps.h"
#include "wire.h"

namespace tfrecord_beam {

// map<string, Feature>: a list of values in each row.
class FeatureMap : public ColumnMap<FeatureMap, ListColumn> {
 public:
  using ColumnMap::ColumnMap;

  bool Read(Cursor map) {
    while (!map.done()) {
      ShortEntry usual;
      if (map.TakeShortEntry(&usual)) {
        const int number = FindColumn(usual.name);
        if (number != ColumnNames::kUnwanted &&
            !AddUsualRow(number, static_cast<Kind>(usual.kind), usual.list)) {
          return false;
        }
      } else if (!ReadField(&map)) {
        return false;
      }
    }
    return true;
  }

 private:
  friend ColumnMap;

  bool AddValue(int number, Cursor feature) {
    Kind kind;
    Cursor list;
    if (TakeOneList(feature, &kind, &list)) return AddUsualRow(number, kind, list);
    return AddParts(number, {feature});
  }

  bool AddParts(int number, const std::vector<Cursor>& parts) {
    Kind kind;
    std::vector<Cursor> lists;
    return MergeLists(parts, value_depth(), &kind, &lists) &&
           AddRow(number, kind, lists.data(), lists.size());
  }

  // Adds a list as the row of a column, with a fast path for the usual case.
  [[gnu::always_inline]] inline bool AddUsualRow(int number, Kind kind, Cursor list) {
    if (number >= 0) {
      ListColumn& column = columns_[static_cast<size_t>(number)].column;
      if (column.rows() == row_ && column.values().kind() == kind &&
          AddUsualList(kind, list, column.values())) {
        column.FinishRow(true);
        return true;
      }
    }
    return AddRow(number, kind, &list, 1);
  }

  [[gnu::noinline]] bool AddRow(int number, Kind kind, const Cursor* lists, size_t count) {
    const int list_depth = value_depth() + 1;
    if (number < 0) return CheckLists(kind, lists, count, list_depth);
    return AddList(StartRowOf(number), kind, lists, count, list_depth);
  }
};

// map<string, FeatureList>: a list of lists of values, one for each Feature, in each row.
class FeatureListMap : public ColumnMap<FeatureListMap, NestedColumn> {
 public:
  using ColumnMap::ColumnMap;

  bool Read(Cursor map) {
    while (!map.done()) {
      if (!ReadField(&map)) return false;
    }
    return true;
  }

 private:
  friend ColumnMap;

  bool AddValue(int number, Cursor feature_list) {
    if (number < 0) return CheckSteps(feature_list);
    Target& target = StartRowOf(number);
    if (!AddSteps(target, feature_list)) return false;
    target.column.FinishRow();
    return true;
  }

  bool AddParts(int number, const std::vector<Cursor>& parts) {
    Target* const target = number < 0 ? nullptr : &StartRowOf(number);
    for (const Cursor& part : parts) {
      if (!(target == nullptr ? CheckSteps(part) : AddSteps(*target, part))) return false;
    }
    if (target != nullptr) target->column.FinishRow();
    return true;
  }

  bool AddSteps(Target& target, Cursor feature_list) {
    while (true) {
      AddShortSteps(target.column, &feature_list);
      if (feature_list.done()) return true;
      const auto add = [&](Cursor feature) { return AddStep(target, feature); };
      if (!ReadStepField(&feature_list, add)) return false;
    }
  }

  bool CheckSteps(Cursor feature_list) {
    while (!feature_list.done()) {
      const auto check = [this](Cursor feature) {
        Kind kind;
        std::vector<Cursor> lists;
        return MergeLists({feature}, feature_depth(), &kind, &lists);
      };
      if (!ReadStepField(&feature_list, check)) return false;
    }
    return true;
  }

  template <typename ReadStep>
  bool ReadStepField(Cursor* feature_list, ReadStep read_step) {
    uint32_t field;
    WireType type;
    Cursor feature;
    if (!feature_list->ReadTag(&field, &type)) return false;
    if (field != 1 || type != WireType::kLength) {
      return feature_list->SkipValue(field, type, value_depth());
    }
    return feature_list->ReadMessage(&feature) && read_step(feature);
  }

  bool AddStep(Target& target, Cursor feature) {
    Kind kind;
    Cursor list;
    target.column.StartStep();
    if (!TakeOneList(feature, &kind, &list)) return AddUnusualStep(target, feature);
    ValueBuffer& values = target.column.values();
    if (kind == values.kind() && AddUsualList(kind, list, values)) {
      target.column.innermost().FinishRow(true);
      return true;
    }
    return AddList(target, kind, &list, 1, feature_depth() + 1);
  }

  bool AddUnusualStep(Target& target, Cursor feature) {
    Kind kind;
    std::vector<Cursor> lists;
    return MergeLists({feature}, feature_depth(), &kind, &lists) &&
           AddList(target, kind, lists.data(), lists.size(), feature_depth() + 1);
  }

  int feature_depth() const { return value_depth() + 1; }
};

}  // namespace tfrecord_beam
