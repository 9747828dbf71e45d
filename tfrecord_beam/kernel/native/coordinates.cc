#include "coordinates.h"

#include <algorithm>
#include <cstddef>

#include "short_bytes.h"

namespace tfrecord_beam {
namespace {

int64_t* Allocate(int64_t count, Buffer* buffer) {
  const auto size = static_cast<size_t>(count) * sizeof(int64_t);
  buffer->Reserve(std::max<size_t>(size, 1));
  buffer->Advance(size);
  return buffer->as<int64_t>();
}

// The coordinates of what lists hold, by those of the lists, `rank` for each.
Buffer Descend(const int64_t* lists, size_t rank, SplitsView splits) {
  Buffer coordinates;
  int64_t* out = Allocate(splits.total() * static_cast<int64_t>(rank + 1), &coordinates);
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
  Buffer parents;
  int64_t* out = Allocate(splits.total(), &parents);
  for (int64_t list = 0; list < splits.lists; ++list) {
    out = std::fill_n(out, splits.data[list + 1] - splits.data[list], list);
  }
  return parents;
}

Buffer FindCoordinates(const std::vector<SplitsView>& levels) {
  Buffer coordinates;
  int64_t* const rows = Allocate(levels[0].lists, &coordinates);
  for (int64_t row = 0; row < levels[0].lists; ++row) rows[row] = row;
  size_t rank = 1;
  for (const SplitsView& splits : levels) {
    coordinates = Descend(coordinates.as<int64_t>(), rank++, splits);
  }
  return coordinates;
}

std::optional<Buffer> FindSplits(MatrixView coordinates, const std::vector<int64_t>& shape) {
  Buffer splits;
  int64_t* const begin = Allocate(shape[0] + 1, &splits);
  int64_t* const end = begin + shape[0] + 1;
  int64_t* out = begin;
  for (int64_t value = 0; value < coordinates.rows; ++value) {
    const char* at = coordinates.data + value * coordinates.row_stride;
    const auto row = LoadWord<int64_t>(at);
    for (const int64_t size : shape) {
      const auto place = LoadWord<int64_t>(at);
      if (place < 0 || place >= size) return std::nullopt;
      at += coordinates.column_stride;
    }
    if (out - begin > row + 1) return std::nullopt;  // a row before that of the value before
    while (out - begin <= row) *out++ = value;
  }
  std::fill(out, end, coordinates.rows);
  return splits;
}

}  // namespace tfrecord_beam
