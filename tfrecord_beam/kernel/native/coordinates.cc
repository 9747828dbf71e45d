#include "coordinates.h"

#include <algorithm>
#include <cstddef>

#include "short_bytes.h"

namespace tfrecord_beam {
namespace {

// The coordinates of the elements of lists, from those of the lists, `rank` numbers for each.
Buffer Descend(const int64_t* lists, size_t rank, SplitsView splits) {
  Buffer coordinates;
  int64_t* out = coordinates.Allocate<int64_t>(splits.total() * static_cast<int64_t>(rank + 1));
  for (int64_t list = 0; list < splits.lists; ++list, lists += rank) {
    const int64_t length = splits.data[list + 1] - splits.data[list];
    for (int64_t place = 0; place < length; ++place) {
      for (size_t i = 0; i < rank; ++i) *out++ = lists[i];
      *out++ = place;
    }
  }
  return coordinates;
}

}  // namespace

bool AreSplits(SplitsView splits) {
  return splits.data[0] == 0 && std::is_sorted(splits.data, splits.data + splits.lists + 1);
}

Buffer FindParents(SplitsView splits) {
  // Most lists are short, and their lengths cannot be predicted: always writes this many.
  constexpr int64_t kAtOnce = 8;
  Buffer parents;
  int64_t* out = parents.Allocate<int64_t>(splits.total() + kAtOnce);
  for (int64_t list = 0; list < splits.lists; ++list) {
    const int64_t length = splits.data[list + 1] - splits.data[list];
    std::fill_n(out, kAtOnce, list);
    if (length > kAtOnce) std::fill_n(out + kAtOnce, length - kAtOnce, list);
    out += length;
  }
  parents.Truncate(static_cast<size_t>(splits.total()) * sizeof(int64_t));
  return parents;
}

Buffer FindCoordinates(const std::vector<SplitsView>& levels) {
  Buffer coordinates;
  int64_t* const rows = coordinates.Allocate<int64_t>(levels[0].lists);
  for (int64_t row = 0; row < levels[0].lists; ++row) rows[row] = row;
  size_t rank = 1;
  for (const SplitsView& splits : levels) {
    coordinates = Descend(coordinates.as<int64_t>(), rank++, splits);
  }
  return coordinates;
}

std::optional<FoundSplits> FindSplits(MatrixView coordinates, const std::vector<int64_t>& shape) {
  FoundSplits found;
  int64_t* const splits = found.splits.Allocate<int64_t>(shape[0] + 1);
  std::fill_n(splits, shape[0] + 1, 0);
  int64_t last_row = 0;
  int64_t first = 0;  // index of the first value of the row
  for (int64_t value = 0; value < coordinates.rows; ++value) {
    const char* at = coordinates.data + value * coordinates.row_stride;
    const auto row = LoadWord<int64_t>(at);
    int64_t place = row;
    for (const int64_t size : shape) {
      place = LoadWord<int64_t>(at);
      if (place < 0 || place >= size) return std::nullopt;
      at += coordinates.column_stride;
    }
    if (row < last_row) return std::nullopt;
    first = row == last_row ? first : value;
    found.without_gaps &= place == value - first;
    last_row = row;
    splits[row + 1] = value + 1;  // the last value of the row sets it
  }
  for (int64_t row = 0; row < shape[0]; ++row) {
    splits[row + 1] = std::max(splits[row], splits[row + 1]);  // a row without values
  }
  return found;
}

}  // namespace tfrecord_beam
