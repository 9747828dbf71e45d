// Lists given by their row splits, or by the coordinates of their values. List i spans the elements
// splits[i] to splits[i + 1] of the next level; the first split is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arrow_layout.h"
#include "columns.h"

namespace tfrecord_beam {

// A view of row splits: one more than there are lists.
struct SplitsView {
  const int64_t* data = nullptr;
  int64_t lists = 0;

  int64_t total() const { return data[lists]; }
};

// A view of rows of int64 with any strides, which are in bytes.
struct MatrixView {
  const char* data = nullptr;
  int64_t rows = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// Whether the splits begin with 0 and ascend.
bool AreSplits(SplitsView splits);

// For each value the index of the list that contains it.
Buffer FindParents(SplitsView splits);

// The coordinates of each value of nested lists: its row, the position in the row, and so on, one
// number more than there are levels. There is at least one level, and each has as many lists as the
// level before it has elements.
Buffer FindCoordinates(const std::vector<SplitsView>& levels);

// The same for lists of values, of which null ones are empty and need not be read.
Buffer FindCoordinates(SplitsView rows, const Nulls& nulls);

// The indices of values in one dimension.
struct Indices {
  const int64_t* splits = nullptr;  // of their rows, as many as those of the values
  const int64_t* data = nullptr;
  int64_t end = 0;  // they are below this
};

// The coordinates of values: the row, then the index in each dimension. Returns nullopt unless each
// row has as many indices as values, and they are from 0 to below their end.
std::optional<Buffer> JoinCoordinates(SplitsView rows, const std::vector<Indices>& dimensions);

struct FoundSplits {
  Buffer splits;
  bool without_gaps = true;  // whether the last coordinates are 0, 1, 2, ... in each row
};

// The row splits of values with these coordinates. Returns nullopt unless all coordinates are
// within the shape, which has a size for each dimension, and the rows ascend.
std::optional<FoundSplits> FindSplits(MatrixView coordinates, const std::vector<int64_t>& shape);

}  // namespace tfrecord_beam
