// tf.train.SequenceExample and ExampleListWithContext records -> one Arrow record batch: columns of
// the context and one struct column of lists of lists. See _native.pyi for the contract.
//
//   message SequenceExample        { Features context = 1; FeatureLists feature_lists = 2; }
//   message ExampleListWithContext { repeated Example examples = 1; Example context = 2; }
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decoding.h"

namespace tfrecord_beam {

// What to decode; immutable, so that threads may share it.
struct SequencePlan {
  SequencePlan(std::optional<std::vector<PlannedColumn>> context_columns,
               std::optional<std::vector<PlannedColumn>> sequence_columns, std::string name,
               std::optional<std::string> raw)
      : context(std::move(context_columns)),
        sequence(std::move(sequence_columns)),
        sequence_column(std::move(name)),
        raw_record_column(std::move(raw)) {}

  const PlannedColumns context;
  const PlannedColumns sequence;
  const std::string sequence_column;
  const std::optional<std::string> raw_record_column;
};

DecodeResult DecodeSequenceExamples(const SequencePlan& plan, const Request& request);
DecodeResult DecodeExampleLists(const SequencePlan& plan, const Request& request);

}  // namespace tfrecord_beam
