#include "encode.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "framing.h"
#include "wire_writer.h"

namespace tfrecord_beam {
namespace {

// Stands for the content size of a Feature without a kind.
constexpr int64_t kNoKind = -1;

// The most that is written together, column by column: the ends of the rows stay in the first-level
// cache, and their bytes in the second-level one until the CRC is computed. Fewer rows take longer,
// because each group of rows costs some steps for each column.
constexpr int64_t kRowsTogether = 64;
constexpr int64_t kBytesTogether = 64 << 10;

struct Range {
  int64_t begin;
  int64_t end;

  int64_t size() const { return end - begin; }
};

Range RangeOf(const Offsets& offsets, int64_t i) { return {offsets[i], offsets[i + 1]}; }

bool HasNoKind(const Features& features, int64_t i) {
  return features.lists ? features.lists->nulls[i] : features.values.nulls[i];
}

// The values of one Feature that has a kind.
Range ValuesOf(const Features& features, int64_t i) {
  return features.lists ? RangeOf(features.lists->offsets, i) : Range{i, i + 1};
}

// The Features of one feature list; nullopt if the row has none.
std::optional<Range> StepsOf(const EncodeColumn& column, int64_t row) {
  if (column.steps->nulls[row]) return std::nullopt;
  return RangeOf(column.steps->offsets, row);
}

int64_t CountFeatures(const EncodeColumn& column, int64_t rows) {
  if (!column.steps) return rows;
  int64_t count = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (const std::optional<Range> steps = StepsOf(column, row)) count += steps->size();
  }
  return count;
}

template <typename Function>
void ForEachColumn(EncodeBatch& batch, const Function& function) {
  for (EncodeColumn& column : batch.context) function(column);
  if (!batch.feature_lists) return;
  for (EncodeColumn& column : *batch.feature_lists) function(column);
}

bool HasNull(const Nulls& nulls, Range range) {
  if (!nulls.possible()) return false;
  for (int64_t i = range.begin; i < range.end; ++i) {
    if (nulls[i]) return true;
  }
  return false;
}

int64_t LoadInt64(const Values& values, int64_t i) {
  return LoadWord<int64_t>(values.data + i * static_cast<int64_t>(sizeof(int64_t)));
}

// Calls a function with the kind as a compile-time constant, to specialize its loops.
template <typename Function>
auto WithKind(Kind kind, const Function& function) {
  switch (kind) {
    case Kind::kBytes:
      return function(std::integral_constant<Kind, Kind::kBytes>());
    case Kind::kFloat:
      return function(std::integral_constant<Kind, Kind::kFloat>());
    case Kind::kInt64:
      return function(std::integral_constant<Kind, Kind::kInt64>());
    case Kind::kNone:
      break;
  }
  return function(std::integral_constant<Kind, Kind::kNone>());
}

// The size of a list's packed numbers, or of all fields in a BytesList.
[[gnu::always_inline]] inline int64_t ContentSize(Kind kind, const Values& values, Range range) {
  int64_t size = 0;
  switch (kind) {
    case Kind::kNone:
      return kNoKind;
    case Kind::kFloat:
      return range.size() * static_cast<int64_t>(sizeof(float));
    case Kind::kInt64:
      for (int64_t i = range.begin; i < range.end; ++i) {
        size += VarintSize(static_cast<uint64_t>(LoadInt64(values, i)));
      }
      return size;
    case Kind::kBytes:
      for (int64_t i = range.begin; i < range.end; ++i) {
        size += FieldSize(values.offsets[i + 1] - values.offsets[i]);
      }
      return size;
  }
  return size;
}

int64_t ListSize(Kind kind, int64_t content_size) {
  return kind == Kind::kBytes || content_size == 0 ? content_size : FieldSize(content_size);
}

int64_t FeatureSize(Kind kind, int64_t content_size) {
  return content_size == kNoKind ? 0 : FieldSize(ListSize(kind, content_size));
}

int64_t EntrySize(const EncodeColumn& column, int64_t value_size) {
  return static_cast<int64_t>(column.key.size()) + FieldSize(value_size);
}

[[gnu::always_inline]] inline uint8_t* WriteContent(Kind kind, const Values& values, Range range,
                                                    uint8_t* out) {
  switch (kind) {
    case Kind::kNone:
      break;
    case Kind::kFloat: {
      const auto size = static_cast<int64_t>(sizeof(float));
      const auto* const floats = values.data + range.begin * size;
      return WriteBytes({floats, static_cast<size_t>(range.size() * size)}, out);
    }
    case Kind::kInt64:
      for (int64_t i = range.begin; i < range.end; ++i) {
        out = WriteVarint(static_cast<uint64_t>(LoadInt64(values, i)), out);
      }
      break;
    case Kind::kBytes:
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t begin = values.offsets[i];
        const int64_t size = values.offsets[i + 1] - begin;
        out = WriteHeader(1, size, out);
        out = WriteBytes({values.data + begin, static_cast<size_t>(size)}, out);
      }
      break;
  }
  return out;
}

[[gnu::always_inline]] inline uint8_t* WriteFeature(Kind kind, const Features& features, int64_t i,
                                                    int64_t content_size, uint8_t* out) {
  if (content_size == kNoKind) return out;
  out = WriteHeader(static_cast<uint32_t>(kind), ListSize(kind, content_size), out);
  if (content_size == 0) return out;
  if (kind != Kind::kBytes) out = WriteHeader(1, content_size, out);
  return WriteContent(kind, features.values, ValuesOf(features, i), out);
}

// Begins a map entry.
[[gnu::always_inline]] inline uint8_t* WriteEntry(const EncodeColumn& column, int64_t value_size,
                                                  uint8_t* out) {
  out = WriteHeader(1, EntrySize(column, value_size), out);
  out = WriteBytes(column.key, out);
  return WriteHeader(2, value_size, out);
}

int64_t FeatureListSize(const EncodeColumn& column, int64_t first, int64_t steps) {
  int64_t size = 0;
  for (int64_t i = first; i < first + steps; ++i) {
    size += FieldSize(FeatureSize(column.features.values.kind, column.content_sizes[i]));
  }
  return size;
}

// Measures the content of a Feature. False: there is a null among its values.
[[gnu::always_inline]] inline bool MeasureFeature(Kind kind, const Features& features, int64_t i,
                                                  int64_t* content_size) {
  if (HasNoKind(features, i)) {
    *content_size = kNoKind;
    return true;
  }
  const Range values = ValuesOf(features, i);
  if (HasNull(features.values.nulls, values)) return false;
  *content_size = ContentSize(kind, features.values, values);
  return true;
}

bool IsSmall(const SmallEntry& entry, int64_t content_size) {
  return static_cast<uint64_t>(content_size) - 1 < entry.max_content;  // not for 0 or kNoKind
}

// Writes the entry up to the content.
[[gnu::always_inline]] inline uint8_t* WriteSmallEntry(Kind kind, const SmallEntry& entry,
                                                       int64_t content_size, uint8_t* out) {
  const auto add = [&](size_t at) {
    out[at] = static_cast<uint8_t>(out[at] + static_cast<uint8_t>(content_size));
  };
  uint8_t* const end = WriteBytes(entry.bytes, out);
  add(entry.lengths[0]);
  add(entry.lengths[1]);
  add(entry.lengths[2]);
  if (kind != Kind::kBytes) add(entry.lengths[3]);
  return end;
}

void WriteHeaders(uint32_t field, Range rows, const std::vector<int64_t>& sizes,
                  std::vector<uint8_t*>& ends) {
  for (auto row = static_cast<size_t>(rows.begin); row < static_cast<size_t>(rows.end); ++row) {
    ends[row] = WriteHeader(field, sizes[row], ends[row]);
  }
}

// Writes the feature lists of `rows`, whose content sizes start at `next_step`; returns their end.
int64_t WriteFeatureLists(const EncodeColumn& column, Range rows, int64_t next_step,
                          std::vector<uint8_t*>& ends) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const std::optional<Range> steps = StepsOf(column, row);
    if (!steps) continue;
    uint8_t* end = ends[static_cast<size_t>(row)];
    end = WriteEntry(column, FeatureListSize(column, next_step, steps->size()), end);
    for (int64_t step = steps->begin; step < steps->end; ++step) {
      const int64_t content_size = column.content_sizes[next_step++];
      const Kind kind = column.features.values.kind;
      end = WriteHeader(1, FeatureSize(kind, content_size), end);
      end = WriteFeature(kind, column.features, step, content_size, end);
    }
    ends[static_cast<size_t>(row)] = end;
  }
  return next_step;
}

// Writes the Features of `rows`.
void WriteFeatures(const EncodeColumn& column, Range rows, bool null_as_absent,
                   std::vector<uint8_t*>& ends) {
  WithKind(column.features.values.kind, [&](auto kind) {
    // Copies, which cannot alias the output.
    const Features features = column.features;
    const int64_t* const content_sizes = column.content_sizes;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t content_size = content_sizes[row];
      if (content_size == kNoKind && null_as_absent) continue;
      uint8_t* end = ends[static_cast<size_t>(row)];
      if (IsSmall(column.small_entry, content_size)) {
        end = WriteSmallEntry(kind, column.small_entry, content_size, end);
        end = WriteContent(kind, features.values, ValuesOf(features, row), end);
      } else if (content_size == kNoKind) {
        end = WriteBytes(column.null_entry, end);
      } else {
        end = WriteEntry(column, FeatureSize(kind, content_size), end);
        end = WriteFeature(kind, features, row, content_size, end);
      }
      ends[static_cast<size_t>(row)] = end;
    }
  });
}

}  // namespace

// One block of memory for all columns, which is kept for the next batch: many small ones would be
// fresh from the system each time.
void BatchEncoder::ReserveContentSizes() {
  int64_t total = 0;
  ForEachColumn(batch_, [&](EncodeColumn& column) { total += CountFeatures(column, batch_.rows); });
  int64_t* next = content_sizes_.Allocate<int64_t>(total);
  ForEachColumn(batch_, [&](EncodeColumn& column) {
    column.content_sizes = next;
    next += CountFeatures(column, batch_.rows);
  });
}

std::optional<EncodeFailure> BatchEncoder::Measure() {
  ReserveContentSizes();
  context_sizes_.assign(static_cast<size_t>(batch_.rows), 0);
  lists_sizes_.assign(static_cast<size_t>(is_sequence() ? batch_.rows : 0), 0);
  std::optional<EncodeFailure> failure;
  int64_t rows = batch_.rows;  // those before the first failure
  const auto measure = [&](std::vector<EncodeColumn>& columns, auto measure_column) {
    for (EncodeColumn& column : columns) {
      const int64_t good = (this->*measure_column)(column, rows);
      if (good < rows) failure = {EncodeFault::kNullValue, good, column.name};
      rows = good;
    }
  };
  measure(batch_.context, &BatchEncoder::MeasureContext);
  if (is_sequence()) measure(*batch_.feature_lists, &BatchEncoder::MeasureFeatureList);

  sizes_.resize(static_cast<size_t>(rows));
  for (size_t row = 0; row < sizes_.size(); ++row) {
    sizes_[row] = FieldSize(context_sizes_[row]);
    if (is_sequence()) sizes_[row] += FieldSize(lists_sizes_[row]);
    if (sizes_[row] > kMaxRecordSize) {
      return EncodeFailure{EncodeFault::kTooLarge, static_cast<int64_t>(row), {}};
    }
  }
  return failure;
}

int64_t BatchEncoder::MeasureContext(EncodeColumn& column, int64_t rows) {
  const auto null_size = batch_.null_as_absent ? 0 : static_cast<int64_t>(column.null_entry.size());
  const auto small_size = static_cast<int64_t>(column.small_entry.bytes.size());
  return WithKind(column.features.values.kind, [&](auto kind) {
    for (int64_t row = 0; row < rows; ++row) {
      int64_t content_size;
      if (!MeasureFeature(kind, column.features, row, &content_size)) return row;
      column.content_sizes[row] = content_size;
      int64_t& size = context_sizes_[static_cast<size_t>(row)];
      if (IsSmall(column.small_entry, content_size)) {
        size += small_size + content_size;
      } else if (content_size == kNoKind) {
        size += null_size;
      } else {
        size += FieldSize(EntrySize(column, FeatureSize(kind, content_size)));
      }
    }
    return rows;
  });
}

int64_t BatchEncoder::MeasureFeatureList(EncodeColumn& column, int64_t rows) {
  int64_t next_step = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const std::optional<Range> steps = StepsOf(column, row);
    if (!steps) continue;
    const int64_t first = next_step;
    for (int64_t step = steps->begin; step < steps->end; ++step) {
      const Kind kind = column.features.values.kind;
      int64_t* const content_size = &column.content_sizes[next_step++];
      if (!MeasureFeature(kind, column.features, step, content_size)) return row;
    }
    const int64_t value_size = FeatureListSize(column, first, steps->size());
    lists_sizes_[static_cast<size_t>(row)] += FieldSize(EntrySize(column, value_size));
  }
  return rows;
}

int64_t BatchEncoder::RowsTogether(int64_t begin) const {
  const int64_t most = std::min(begin + kRowsTogether, batch_.rows);
  int64_t end = begin + 1;
  int64_t bytes = sizes_[static_cast<size_t>(begin)];
  while (end < most && (bytes += sizes_[static_cast<size_t>(end)]) <= kBytesTogether) ++end;
  return end;
}

template <typename Done>
void BatchEncoder::WriteRows(std::vector<uint8_t*>& ends, Done done) const {
  std::vector<int64_t> next_steps(is_sequence() ? batch_.feature_lists->size() : 0);
  for (Range rows{0, 0}; rows.begin < batch_.rows; rows.begin = rows.end) {
    rows.end = RowsTogether(rows.begin);
    WriteHeaders(1, rows, context_sizes_, ends);
    for (const EncodeColumn& column : batch_.context) {
      WriteFeatures(column, rows, batch_.null_as_absent, ends);
    }
    if (is_sequence()) {
      WriteHeaders(2, rows, lists_sizes_, ends);
      for (size_t i = 0; i < next_steps.size(); ++i) {
        next_steps[i] = WriteFeatureLists((*batch_.feature_lists)[i], rows, next_steps[i], ends);
      }
    }
    done(rows);
  }
}

void BatchEncoder::Write(std::vector<uint8_t*>& ends) const {
  WriteRows(ends, [](Range) {});
}

// Computes the CRC of a record while the record is still in the first-level cache.
void BatchEncoder::WriteFrames(std::vector<uint8_t*>& ends) const {
  WriteRows(ends, [&](Range rows) {
    for (auto row = static_cast<size_t>(rows.begin); row < static_cast<size_t>(rows.end); ++row) {
      const int64_t size = sizes_[row];
      SealFrame(ends[row] - size, static_cast<size_t>(size));
    }
  });
}

}  // namespace tfrecord_beam
