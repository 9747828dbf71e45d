#include "coordinates.h"

#include <algorithm>
#include <cstddef>

#include "short_bytes.h"

namespace tfrecord_beam {
namespace {

// Most lists are short, and their lengths cannot be predicted: so many values are always written.
constexpr int64_t kAtOnce = 8;

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
  uint64_t signs = 0;  // of all splits and steps; where no split is negative, no step overflows
  for (int64_t list = 0; list < splits.lists; ++list) {
    const auto begin = static_cast<uint64_t>(splits.data[list]);
    const auto end = static_cast<uint64_t>(splits.data[list + 1]);
    signs |= end | (end - begin);
  }
  return splits.data[0] == 0 && static_cast<int64_t>(signs) >= 0;
}

Buffer FindParents(SplitsView splits) {
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

Buffer FindCoordinates(SplitsView rows, const Nulls& nulls) {
  Buffer coordinates;
  int64_t* out = coordinates.Allocate<int64_t>((rows.total() + kAtOnce) * 2);
  nulls.ForEachValid(rows.lists, [&](int64_t row) {
    const int64_t length = rows.data[row + 1] - rows.data[row];
    const auto write = [=](int64_t place) {
      out[2 * place] = row;
      out[2 * place + 1] = place;
    };
    for (int64_t place = 0; place < kAtOnce; ++place) write(place);
    for (int64_t place = kAtOnce; place < length; ++place) write(place);
    out += 2 * length;
  });
  coordinates.Truncate(static_cast<size_t>(rows.total()) * 2 * sizeof(int64_t));
  return coordinates;
}

Buffer FindCoordinates(const std::vector<SplitsView>& levels) {
  Buffer coordinates = FindCoordinates(levels[0], Nulls());
  for (size_t level = 1; level < levels.size(); ++level) {
    coordinates = Descend(coordinates.as<int64_t>(), level + 1, levels[level]);
  }
  return coordinates;
}

std::optional<Buffer> JoinCoordinates(SplitsView rows, const std::vector<Indices>& dimensions) {
  for (const Indices& indices : dimensions) {
    if (!std::equal(rows.data, rows.data + rows.lists + 1, indices.splits)) return std::nullopt;
  }
  constexpr int64_t kRows = 64;  // their coordinates mostly stay in the CPU's cache
  const auto rank = static_cast<int64_t>(1 + dimensions.size());
  Buffer coordinates;
  auto* const out = coordinates.Allocate<int64_t>((rows.total() + kAtOnce) * rank);
  uint64_t signs = 0;  // of all indices, and of how far the last one allowed is from them
  for (int64_t first = 0; first < rows.lists; first += kRows) {
    const int64_t stop = std::min(first + kRows, rows.lists);
    for (int64_t row = first; row < stop; ++row) {
      int64_t* const at = out + rows.data[row] * rank;
      const int64_t length = rows.data[row + 1] - rows.data[row];
      for (int64_t i = 0; i < kAtOnce; ++i) at[i * rank] = row;
      for (int64_t i = kAtOnce; i < length; ++i) at[i * rank] = row;
    }
    int64_t* column = out;
    for (const Indices& indices : dimensions) {
      ++column;
      const auto last = static_cast<uint64_t>(indices.end) - 1;
      for (int64_t i = rows.data[first]; i < rows.data[stop]; ++i) {
        const auto index = static_cast<uint64_t>(indices.data[i]);
        column[i * rank] = indices.data[i];
        signs |= index | (last - index);
      }
    }
  }
  if (static_cast<int64_t>(signs) < 0) return std::nullopt;
  coordinates.Truncate(static_cast<size_t>(rows.total() * rank) * sizeof(int64_t));
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
