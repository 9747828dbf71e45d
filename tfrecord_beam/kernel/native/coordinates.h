// Lists by their row splits, and by the coordinates of what they hold. List i reaches from
// splits[i] to splits[i + 1] of what the next level counts; the first split is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "columns.h"

namespace tfrecord_beam {

// Row splits of others: one more than there are lists.
struct SplitsView {
  const int64_t* data = nullptr;
  int64_t lists = 0;

  int64_t total() const { return data[lists]; }
};

// Rows of int64 of others, which may lie apart. Strides are in bytes.
struct MatrixView {
  const char* data = nullptr;
  int64_t rows = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// Whether they begin with 0 and ascend.
bool AreSplits(SplitsView splits);

// The number of the list that each value is in.
Buffer FindParents(SplitsView splits);

// Where each value of nested lists is: its row, its place in that, and so on, one number more than
// there are levels. Each level has as many lists as the one before it, of one at least, holds.
Buffer FindCoordinates(const std::vector<SplitsView>& levels);

struct FoundSplits {
  Buffer splits;
  bool without_gaps = true;  // whether the last coordinates are 0, 1, 2, ... in each row
};

// The row splits of values with these coordinates. None unless they are within the shape, which has
// a size for each of their numbers, and the first of these ascend.
std::optional<FoundSplits> FindSplits(MatrixView coordinates, const std::vector<int64_t>& shape);

}  // namespace tfrecord_beam
