#include "example.h"

#include <algorithm>
#include <utility>

#include "feature_lists.h"
#include "short_bytes.h"
#include "wire.h"

namespace tfrecord_beam {
namespace {

// How many messages enclose the fields of each message: the protobuf library limits the depth.
constexpr int kExampleDepth = 0;
constexpr int kFeaturesDepth = 1;
constexpr int kEntryDepth = 2;
constexpr int kFeatureDepth = 3;
constexpr int kListDepth = 4;

// Whether a name looks like a map entry: nothing but fields 1 and 2, at least one of them.
bool LooksLikeEntry(std::string_view name) {
  Cursor cursor(name);
  while (!cursor.done()) {
    uint32_t field;
    WireType type;
    Cursor part;
    if (!cursor.ReadTag(&field, &type) || field > 2 || type != WireType::kLength ||
        !cursor.ReadMessage(&part)) {
      return false;
    }
  }
  return !name.empty();
}

// The state of one call.
class Decoder {
 public:
  Decoder(const ExamplePlan& plan, const std::vector<std::string_view>& records, int64_t max_cells)
      : plan_(plan), records_(records), max_cells_(max_cells) {
    for (const std::string_view record : records) max_bytes_ += record.size();
    if (!plan.columns()) return;
    const std::vector<PlannedColumn>& planned = *plan.columns();
    columns_.reserve(planned.size());
    for (const PlannedColumn& column : planned) AddColumn(column.name, column.kind, planned.size());
  }

  DecodeResult Run(bool collect_failures) {
    DecodeResult result;
    std::vector<std::string_view> good;
    const auto count = static_cast<int64_t>(records_.size());
    for (record_ = 0; record_ < count && rows_ < MostRows(columns_.size()); ++record_) {
      const std::string_view bytes = records_[static_cast<size_t>(record_)];
      StartRecord();
      const bool parsed = ReadExample(Cursor(bytes));
      std::optional<Failure> failure = FindFailure(parsed);
      if (failure) {
        result.failures.push_back(std::move(*failure));
        if (!collect_failures) return result;
        TakeBackRecord();
      } else if (columns_.size() > columns_before_ && rows_ > 0 &&
                 rows_ >= MostRows(columns_.size())) {
        TakeBackRecord();  // it has brought columns for which there is no room
        break;
      } else {
        KeepRecord();
        if (plan_.raw_record_column()) good.push_back(bytes);
      }
    }
    result.batch = Finish(good);
    return result;
  }

 private:
  // Numbers that stand for a column where there is none.
  static constexpr int kUnwanted = -1;     // skip the content
  static constexpr int kCheckedOnly = -2;  // the content must be well formed

  // A column and what the current record has done to it.
  struct Target {
    Target(std::string_view name, Kind kind, int64_t max_rows, size_t max_bytes)
        : column(name, kind, max_rows, max_bytes) {}
    ListColumn column;
    int64_t touched_in = -1;      // the last record that has the feature
    bool adopted = false;         // that record gave the column its kind
    Kind mismatch = Kind::kNone;  // the kind that record holds, where it is another one
  };

  struct Guess {
    std::string_view name;
    int column;
  };

  // How many rows a batch of so many columns may have.
  int64_t MostRows(size_t columns) const {
    const auto all = static_cast<int64_t>(records_.size());
    if (columns == 0) return all;
    return std::min(all, std::max(int64_t{1}, max_cells_ / static_cast<int64_t>(columns)));
  }

  void AddColumn(std::string_view name, Kind kind, size_t columns) {
    columns_.emplace_back(name, kind, std::max(rows_ + 1, MostRows(columns)), max_bytes_);
  }

  void StartRecord() {
    next_guess_ = 0;
    touched_.clear();
    columns_before_ = columns_.size();
    name_not_utf8_ = feature_lists_ = nested_example_ = false;
    raw_collision_ = name_with_nul_ = mismatched_ = adopted_ = false;
  }

  bool ReadExample(Cursor example) {
    while (!example.done()) {
      uint32_t field;
      WireType type;
      if (!example.ReadTag(&field, &type)) return false;
      if (field == 1 && type == WireType::kLength) {
        Cursor features;
        if (!example.ReadMessage(&features) || !ReadFeatures(features)) return false;
        continue;
      }
      if (field == 2 && type == WireType::kLength) feature_lists_ = true;
      if (!example.SkipValue(field, type, kExampleDepth)) return false;
    }
    return true;
  }

  bool ReadFeatures(Cursor features) {
    while (!features.done()) {
      ShortEntry usual;
      if (features.TakeShortEntry(&usual)) {
        const int column = FindColumn(usual.name);
        if (column != kUnwanted &&
            !AddUsualRow(column, static_cast<Kind>(usual.kind), usual.list)) {
          return false;
        }
        continue;
      }
      Cursor entry;
      uint32_t field;
      WireType type;
      if (!features.ReadTag(&field, &type)) {
        return false;
      } else if (field == 1 && type == WireType::kLength) {
        if (!features.ReadMessage(&entry) || !ReadEntry(entry)) return false;
      } else if (!features.SkipValue(field, type, kFeaturesDepth)) {
        return false;
      }
    }
    return true;
  }

  [[gnu::noinline]] bool ReadEntry(Cursor entry) {
    Cursor usual = entry;  // a name and a value, as every writer writes them
    Cursor name;
    Cursor value;
    if (usual.TakeField(LengthTag(1), &name) && usual.TakeField(LengthTag(2), &value) &&
        usual.done()) {
      const int column = FindColumn(name.bytes());
      return column == kUnwanted || ReadFeature(column, value);
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
        if (!IsUtf8(name)) name_not_utf8_ = true;
      } else if (field == 2 && type == WireType::kLength) {
        Cursor value;
        if (!entry.ReadMessage(&value)) return false;
        values.push_back(value);
      } else if (!entry.SkipValue(field, type, kEntryDepth)) {
        return false;
      }
    }
    if (values.empty() && LooksLikeEntry(name)) nested_example_ = true;
    const int column = FindColumn(name);
    return column == kUnwanted || ReadUnusualFeature(column, values);
  }

  // The column of a feature. Features mostly come in the order of the record before.
  [[gnu::always_inline]] inline int FindColumn(std::string_view name) {
    const size_t at = next_guess_++;
    if (at < guesses_.size() && EqualBytes(guesses_[at].name, name)) return guesses_[at].column;
    return FindOtherColumn(name, at);
  }

  // The same where the guess was wrong; the next record is guessed to be like this one.
  [[gnu::noinline]] int FindOtherColumn(std::string_view name, size_t at) {
    int column = index().Find(name);
    if (column == NameIndex::kNotFound) column = FindNewColumn(name);
    if (name_not_utf8_ || raw_collision_) return column;  // not an order to learn from
    if (at < guesses_.size()) {
      guesses_[at] = {name, column};
    } else if (at == guesses_.size()) {
      guesses_.push_back({name, column});
    }
    return column;
  }

  int FindNewColumn(std::string_view name) {
    const bool utf8 = IsUtf8(name);
    if (!utf8) name_not_utf8_ = true;
    if (plan_.columns()) return kUnwanted;
    if (plan_.raw_record_column() == name) raw_collision_ = true;
    if (!utf8 || raw_collision_) return kCheckedOnly;
    if (name.find('\0') != std::string_view::npos) name_with_nul_ = true;
    const auto column = static_cast<int>(columns_.size());
    AddColumn(name, Kind::kNone, columns_.size() + 1);
    found_index_.Add(name, column);
    return column;
  }

  bool ReadFeature(int column, Cursor feature) {
    for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
      Cursor usual = feature;  // one list
      Cursor list;
      if (usual.TakeField(LengthTag(static_cast<uint32_t>(kind)), &list) && usual.done()) {
        return AddUsualRow(column, kind, list);
      }
    }
    return ReadUnusualFeature(column, {feature});
  }

  bool ReadUnusualFeature(int column, const std::vector<Cursor>& fragments) {
    Kind kind = Kind::kNone;
    std::vector<Cursor> lists;
    for (Cursor feature : fragments) {
      while (!feature.done()) {
        uint32_t field;
        WireType type;
        if (!feature.ReadTag(&field, &type)) return false;
        if (!IsKind(field, type)) {
          if (!feature.SkipValue(field, type, kFeatureDepth)) return false;
          continue;
        }
        if (static_cast<Kind>(field) != kind) lists.clear();
        kind = static_cast<Kind>(field);
        Cursor list;
        if (!feature.ReadMessage(&list) || !CheckList(kind, list, kListDepth)) return false;
        lists.push_back(list);
      }
    }
    return AddRow(column, kind, lists.data(), lists.size());
  }

  // Makes a list the row of the current record; straight away where there is nothing special about
  // it.
  [[gnu::always_inline]] inline bool AddUsualRow(int number, Kind kind, Cursor list) {
    if (number >= 0) {
      Target& target = columns_[static_cast<size_t>(number)];
      ListColumn& column = target.column;
      if (target.touched_in != record_ && column.kind() == kind && column.rows() == rows_ &&
          AddUsualList(kind, list, column)) {
        target.touched_in = record_;
        touched_.push_back(number);
        column.FinishRow(true);
        return true;
      }
    }
    return AddRow(number, kind, &list, 1);
  }

  // Makes the lists, which are of one kind, the row of the current record.
  [[gnu::noinline]] bool AddRow(int number, Kind kind, const Cursor* lists, size_t count) {
    if (number == kCheckedOnly) return CheckLists(kind, lists, count);
    Target& target = columns_[static_cast<size_t>(number)];
    ListColumn& column = target.column;
    if (target.touched_in == record_) {
      TakeBack(target);  // the last entry of a name wins
    } else {
      target.touched_in = record_;
      touched_.push_back(number);
    }
    column.StartRow(rows_);
    if (kind != Kind::kNone && column.kind() == Kind::kNone) {
      column.SetKind(kind);
      target.adopted = adopted_ = true;
    }
    if (kind != Kind::kNone && kind != column.kind()) {
      target.mismatch = kind;
      mismatched_ = true;
      column.FinishRow(false);
      return CheckLists(kind, lists, count);
    }
    for (size_t i = 0; i < count; ++i) {
      if (!ReadList(kind, lists[i], kListDepth, column)) return false;
    }
    column.FinishRow(kind != Kind::kNone);
    return true;
  }

  static bool CheckLists(Kind kind, const Cursor* lists, size_t count) {
    return std::all_of(lists, lists + count,
                       [kind](const Cursor& list) { return CheckList(kind, list, kListDepth); });
  }

  void TakeBack(Target& target) {
    target.column.RewindTo(rows_);
    target.mismatch = Kind::kNone;
    if (target.adopted) target.column.SetKind(Kind::kNone);
    target.adopted = false;
  }

  std::optional<Failure> FindFailure(bool parsed) {
    if (!parsed) return MakeFailure(Fault::kMalformed);
    if (name_not_utf8_) return MakeFailure(Fault::kNameNotUtf8);
    if (feature_lists_) return MakeFailure(Fault::kFeatureLists);
    if (nested_example_) return MakeFailure(Fault::kNestedExample);
    if (raw_collision_) {
      return MakeFailure(Fault::kRawColumnCollision, *plan_.raw_record_column());
    }
    if (name_with_nul_ || mismatched_) {
      if (std::optional<Failure> failure = FindFeatureFailure()) return failure;
    }
    return std::nullopt;
  }

  // The first feature, in output order, that is at fault.
  std::optional<Failure> FindFeatureFailure() const {
    for (const int number : OutputOrder(touched_)) {
      const Target& target = columns_[static_cast<size_t>(number)];
      const std::string name(target.column.name());
      if (name_with_nul_ && name.find('\0') != std::string::npos) {
        return MakeFailure(Fault::kNameWithNul, name);
      }
      if (!name_with_nul_ && target.mismatch != Kind::kNone) {
        return MakeFailure(Fault::kKindMismatch, name, target.column.kind(), target.mismatch);
      }
    }
    return std::nullopt;  // a later entry of the name has put it right
  }

  Failure MakeFailure(Fault fault, std::optional<std::string> feature = std::nullopt,
                      Kind expected = Kind::kNone, Kind found = Kind::kNone) const {
    return {fault, record_, std::move(feature), expected, found};
  }

  void KeepRecord() {
    ++rows_;
    if (!adopted_) return;
    for (const int number : touched_) columns_[static_cast<size_t>(number)].adopted = false;
  }

  void TakeBackRecord() {
    for (const int number : touched_) TakeBack(columns_[static_cast<size_t>(number)]);
    if (columns_.size() == columns_before_) return;
    columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(columns_before_), columns_.end());
    found_index_.Clear();
    for (size_t i = 0; i < columns_.size(); ++i) {
      found_index_.Add(columns_[i].column.name(), static_cast<int>(i));
    }
    guesses_.clear();
  }

  // Planned columns stay in their order, found ones go by the bytes of their names.
  std::vector<int> OutputOrder(std::vector<int> numbers) const {
    std::sort(numbers.begin(), numbers.end(), [this](int a, int b) {
      if (plan_.columns()) return a < b;
      return columns_[static_cast<size_t>(a)].column.name() <
             columns_[static_cast<size_t>(b)].column.name();
    });
    return numbers;
  }

  Array Finish(const std::vector<std::string_view>& good) {
    Array batch;
    batch.format = "+s";
    batch.length = rows_;
    batch.buffers.emplace_back();
    std::vector<int> numbers(columns_.size());
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
    for (const int number : OutputOrder(std::move(numbers))) {
      batch.children.push_back(columns_[static_cast<size_t>(number)].column.Finish(rows_));
    }
    if (plan_.raw_record_column()) {
      ListColumn raw(*plan_.raw_record_column(), Kind::kBytes, rows_, max_bytes_);
      for (const std::string_view record : good) {
        raw.AddBytes(record);
        raw.FinishRow(true);
      }
      batch.children.push_back(raw.Finish(rows_));
    }
    return batch;
  }

  const NameIndex& index() const { return plan_.columns() ? plan_.index() : found_index_; }

  const ExamplePlan& plan_;
  const std::vector<std::string_view>& records_;
  const int64_t max_cells_;
  size_t max_bytes_ = 0;
  std::vector<Target> columns_;
  NameIndex found_index_;  // without planned columns: those that the records have shown
  std::vector<Guess> guesses_;
  int64_t rows_ = 0;  // good records so far

  // Of the current record:
  int64_t record_ = 0;
  size_t next_guess_ = 0;
  size_t columns_before_ = 0;
  std::vector<int> touched_;
  bool name_not_utf8_ = false;
  bool feature_lists_ = false;
  bool nested_example_ = false;
  bool raw_collision_ = false;
  bool name_with_nul_ = false;
  bool mismatched_ = false;
  bool adopted_ = false;
};

}  // namespace

ExamplePlan::ExamplePlan(std::optional<std::vector<PlannedColumn>> columns,
                         std::optional<std::string> raw_record_column)
    : columns_(std::move(columns)), raw_record_column_(std::move(raw_record_column)) {
  if (!columns_) return;
  for (size_t i = 0; i < columns_->size(); ++i) {
    index_.Add((*columns_)[i].name, static_cast<int>(i));
  }
}

DecodeResult DecodeExamples(const ExamplePlan& plan, const std::vector<std::string_view>& records,
                            bool collect_failures, int64_t max_cells) {
  return Decoder(plan, records, max_cells).Run(collect_failures);
}

}  // namespace tfrecord_beam
