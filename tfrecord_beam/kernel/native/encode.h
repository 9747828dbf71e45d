// Columns of an Arrow record batch -> serialized tf.train.Example or SequenceExample records.
// See _native.pyi for the contract, and example.h for the messages.
//
//   message SequenceExample { Features context = 1; FeatureLists feature_lists = 2; }
//   message FeatureLists    { map<string, FeatureList> feature_list = 1; }
//   message FeatureList     { repeated Feature feature = 1; }
//
// An Example is the same on the wire as a SequenceExample without feature lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "columns.h"
#include "encode_columns.h"

namespace tfrecord_beam {

// As in plan.py, which explains each of them.
enum class EncodeFault : int { kUnsupportedType = 1, kNullValue = 2, kTooLarge = 3 };

struct EncodeFailure {
  EncodeFault fault;
  int64_t record;
  std::string feature;  // empty for kTooLarge
};

struct EncodeBatch {
  int64_t rows;
  std::vector<EncodeColumn> context;
  std::optional<std::vector<EncodeColumn>> feature_lists;  // nullopt: the records are Examples
  bool null_as_absent;
};

// Encodes one batch: first all sizes, then all bytes.
class BatchEncoder {
 public:
  explicit BatchEncoder(EncodeBatch batch) : batch_(std::move(batch)) {}

  // Computes the size of each record; returns the first failure, if any.
  std::optional<EncodeFailure> Measure();

  const std::vector<int64_t>& sizes() const { return sizes_; }

  // Writes each record at its pointer in `ends`, and moves the pointer to the end of the record.
  void Write(std::vector<uint8_t*>& ends) const;

  // The same for records in frames: there is room around each record for the rest of its frame,
  // which is written too.
  void WriteFrames(std::vector<uint8_t*>& ends) const;

 private:
  // Both return the number of rows before the first that has a null among its values.
  int64_t MeasureContext(EncodeColumn& column, int64_t rows);
  int64_t MeasureFeatureList(EncodeColumn& column, int64_t rows);

  // The end of the group of rows from `begin` on to write together.
  int64_t RowsTogether(int64_t begin) const;

  // Calls `done` with each group of rows once it has been written.
  template <typename Done>
  void WriteRows(std::vector<uint8_t*>& ends, Done done) const;

  bool is_sequence() const { return batch_.feature_lists.has_value(); }

  // Gives each column room for its content sizes.
  void ReserveContentSizes();

  EncodeBatch batch_;
  Buffer content_sizes_;                // of all columns
  std::vector<int64_t> context_sizes_;  // of each record's Features
  std::vector<int64_t> lists_sizes_;    // of each record's FeatureLists
  std::vector<int64_t> sizes_;
};

}  // namespace tfrecord_beam
