#include "sequence_example.h"

#include "example_fields.h"
#include "feature_maps.h"

namespace tfrecord_beam {
namespace {

std::vector<ReservedName> ReservedInContext(const SequencePlan& plan) {
  std::vector<ReservedName> reserved = ReservedNames(plan.raw_record_column);
  reserved.push_back({plan.sequence_column, Fault::kSequenceColumnCollision});
  return reserved;
}

std::optional<Failure> InSequence(std::optional<Failure> failure) {
  if (failure) failure->in_sequence = true;
  return failure;
}

// Tracks whether there is a struct column: if any of its features are planned or, without a plan,
// if a record has feature lists (or Examples), even empty ones.
class SequenceColumn {
 public:
  explicit SequenceColumn(const SequencePlan& plan)
      : name_(plan.sequence_column),
        wanted_(plan.sequence.columns() && !plan.sequence.columns()->empty()),
        seen_counts_(!plan.sequence.columns()) {}

  void StartRow() { shown_ = false; }
  void Show() { shown_ = true; }
  void KeepRow() { wanted_ |= shown_ && seen_counts_; }

  void Finish(int64_t rows, std::vector<Array> children, std::vector<Array>* columns) const {
    if (wanted_) columns->push_back(MakeStruct(name_, rows, std::move(children)));
  }

 private:
  const std::string& name_;
  bool wanted_;
  const bool seen_counts_;
  bool shown_ = false;  // the current record has feature lists (or Examples)
};

class SequenceExampleDecoder {
 public:
  SequenceExampleDecoder(const SequencePlan& plan, const Request& request, const Progress& progress)
      : context_(plan.context, ReservedInContext(plan), progress, 1,
                 request.MostRows(plan.context)),
        lists_(plan.sequence, {}, progress, 1, request.MostRows(plan.sequence)),
        column_(plan) {}

  bool Read(Cursor record) {
    column_.StartRow();
    context_.StartRecord();
    context_.StartRow();
    lists_.StartRecord();
    lists_.StartRow();
    while (!record.done()) {
      uint32_t field;
      WireType type;
      Cursor map;
      if (!record.ReadTag(&field, &type)) return false;
      if (type != WireType::kLength || field > 2) {
        if (!record.SkipValue(field, type, 0)) return false;
        continue;
      }
      if (!record.ReadMessage(&map) || !(field == 1 ? context_.Read(map) : lists_.Read(map))) {
        return false;
      }
      if (field == 2) column_.Show();
    }
    return true;
  }

  std::optional<Failure> FindFailure() const {
    return FirstFailure(context_.FindFailure(), InSequence(lists_.FindFailure()));
  }

  int64_t CountCells() const {
    return (context_.rows() + 1) * (context_.num_columns() + lists_.num_columns());
  }

  void KeepRow() {
    column_.KeepRow();
    context_.FinishRow();
    lists_.FinishRow();
  }

  void TakeBackRow() {
    context_.TakeBackRecord();
    lists_.TakeBackRecord();
  }

  std::vector<Array> Finish() {
    const int64_t rows = context_.rows();
    std::vector<Array> columns = context_.Finish();
    column_.Finish(rows, lists_.Finish(), &columns);
    return columns;
  }

 private:
  FeatureMap context_;
  FeatureListMap lists_;
  SequenceColumn column_;
};

// The Examples of all records are the rows of one map; a record is a span of these rows, the same
// in all columns.
class ExampleListDecoder {
 public:
  ExampleListDecoder(const SequencePlan& plan, const Request& request, const Progress& progress)
      : context_(plan.context, ReservedInContext(plan), progress, 2,
                 request.MostRows(plan.context)),
        examples_(plan.sequence, {}, progress, 2, FeatureMap::kUnknown),
        column_(plan) {}

  bool Read(Cursor record) {
    has_field_2_ = false;
    column_.StartRow();
    context_.StartRecord();
    context_.StartRow();
    examples_.StartRecord();
    while (!record.done()) {
      uint32_t field;
      WireType type;
      Cursor example;
      if (!record.ReadTag(&field, &type)) return false;
      if (type != WireType::kLength || field > 2) {
        if (!record.SkipValue(field, type, 0)) return false;
      } else if (!record.ReadMessage(&example)) {
        return false;
      } else if (field == 2) {
        if (!ReadExample(example, 1, context_, &has_field_2_)) return false;
      } else {
        examples_.StartRow();
        if (!ReadExample(example, 1, examples_, &has_field_2_)) return false;
        examples_.FinishRow();
        column_.Show();
      }
    }
    return true;
  }

  std::optional<Failure> FindFailure() const {
    std::optional<Failure> failure =
        FirstFailure(context_.FindFailure(), InSequence(examples_.FindFailure()));
    if (!has_field_2_) return failure;
    return FirstFailure(std::move(failure), Failure{Fault::kFeatureLists});
  }

  int64_t CountCells() const {
    return (context_.rows() + 1) * context_.num_columns() +
           examples_.rows() * examples_.num_columns();
  }

  void KeepRow() {
    column_.KeepRow();
    context_.FinishRow();
    ends_.push_back(examples_.rows());
  }

  void TakeBackRow() {
    context_.TakeBackRecord();
    examples_.TakeBackRecord();
  }

  std::vector<Array> Finish() {
    const int64_t rows = context_.rows();
    std::vector<Array> columns = context_.Finish();
    std::vector<Array> children;
    for (Array& steps : examples_.Finish()) {
      ListEnds lists;
      lists.Reserve(rows);
      for (const int64_t end : ends_) lists.Add(end);
      const std::string name = std::exchange(steps.name, "item");
      children.push_back(lists.Finish(name, std::move(steps)));
    }
    column_.Finish(rows, std::move(children), &columns);
    return columns;
  }

 private:
  FeatureMap context_;
  FeatureMap examples_;
  std::vector<int64_t> ends_;  // where each record's Examples end
  SequenceColumn column_;
  bool has_field_2_ = false;
};

template <typename Decoder>
DecodeResult Decode(const SequencePlan& plan, const Request& request) {
  Progress progress = request.StartProgress();
  Decoder decoder(plan, request, progress);
  return DecodeRecords(decoder, progress, request, plan.raw_record_column);
}

}  // namespace

DecodeResult DecodeSequenceExamples(const SequencePlan& plan, const Request& request) {
  return Decode<SequenceExampleDecoder>(plan, request);
}

DecodeResult DecodeExampleLists(const SequencePlan& plan, const Request& request) {
  return Decode<ExampleListDecoder>(plan, request);
}

}  // namespace tfrecord_beam
