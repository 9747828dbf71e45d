#include "example.h"

#include "example_fields.h"
#include "feature_maps.h"

namespace tfrecord_beam {
namespace {

class ExampleDecoder {
 public:
  ExampleDecoder(const ExamplePlan& plan, const Request& request, const Progress& progress)
      : features_(plan.columns, ReservedNames(plan.raw_record_column), progress, 1,
                  request.MostRows(plan.columns)) {}

  bool Read(Cursor record) {
    has_field_2_ = false;
    features_.StartRecord();
    features_.StartRow();
    return ReadExample(record, 0, features_, &has_field_2_);
  }

  std::optional<Failure> FindFailure() const {
    std::optional<Failure> failure = features_.FindFailure();
    if (!has_field_2_) return failure;
    return FirstFailure(std::move(failure), Failure{Fault::kFeatureLists});
  }

  int64_t CountCells() const { return (features_.rows() + 1) * features_.num_columns(); }
  void KeepRow() { features_.FinishRow(); }
  void TakeBackRow() { features_.TakeBackRecord(); }
  std::vector<Array> Finish() { return features_.Finish(); }

 private:
  FeatureMap features_;
  bool has_field_2_ = false;
};

}  // namespace

DecodeResult DecodeExamples(const ExamplePlan& plan, const Request& request) {
  Progress progress = request.StartProgress();
  ExampleDecoder decoder(plan, request, progress);
  return DecodeRecords(decoder, progress, request, plan.raw_record_column);
}

}  // namespace tfrecord_beam
