// tf.train.Example records -> one Arrow record batch. See _native.pyi for the contract.
//
//   message Example { Features features = 1; }
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decoding.h"

namespace tfrecord_beam {

// What to decode; immutable, so that threads may share it.
struct ExamplePlan {
  ExamplePlan(std::optional<std::vector<PlannedColumn>> planned, std::optional<std::string> raw)
      : columns(std::move(planned)), raw_record_column(std::move(raw)) {}

  const PlannedColumns columns;
  const std::optional<std::string> raw_record_column;
};

DecodeResult DecodeExamples(const ExamplePlan& plan, const Request& request);

}  // namespace tfrecord_beam
