#include "arrays.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "arrow_layout.h"
#include "wire.h"

namespace tfrecord_beam {
namespace {

std::string_view FormatOf(const ArrowSchema& schema) {
  return schema.dictionary == nullptr ? schema.format : "";
}

bool IsList(std::string_view format) { return format == "+l" || format == "+L"; }

bool IsString(std::string_view format) {
  return format == "z" || format == "Z" || format == "u" || format == "U";
}

bool HasWideOffsets(std::string_view format) {
  return format == "+L" || format == "Z" || format == "U";
}

int64_t BytesOfBits(int64_t bits) { return (bits + 7) / 8; }

// The width of a numeric type in bytes; 0 for other types.
int64_t WidthOf(std::string_view format) {
  if (format.size() != 1) return 0;
  switch (format[0]) {
    case 'c':
    case 'C':
      return 1;
    case 's':
    case 'S':
      return 2;
    case 'i':
    case 'I':
    case 'f':
      return 4;
    case 'l':
    case 'L':
    case 'g':
      return 8;
    default:
      return 0;
  }
}

// The size of `length` elements from `first` on, counted from the beginning of the buffers.
std::optional<int64_t> ByteSizeOf(const ArrowSchema& schema, const ArrowArray& array, int64_t first,
                                  int64_t length) {
  const std::string_view format = FormatOf(schema);
  if (format == "n") return 0;
  const int64_t width = WidthOf(format);
  const bool is_list = IsList(format);
  const bool is_string = IsString(format);
  if (width == 0 && !is_list && !is_string && format != "b" && format != "+s") return std::nullopt;

  int64_t size = array.buffers[0] == nullptr ? 0 : BytesOfBits(length);
  if (format == "b") return size + BytesOfBits(length);
  if (width != 0) return size + length * width;
  int64_t child_first = first;
  int64_t child_length = length;
  if (is_list || is_string) {
    const bool wide = HasWideOffsets(format);
    size += (length + 1) * (wide ? 8 : 4);
    child_length = 0;
    if (length != 0) {  // else the offsets may be missing
      const Offsets offsets(array.buffers[1], wide, first);
      child_first = offsets[0];
      child_length = offsets[length] - child_first;
    }
  }
  if (is_string) return size + child_length;
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowArray& child = *array.children[i];
    const std::optional<int64_t> child_size =
        ByteSizeOf(*schema.children[i], child, child.offset + child_first, child_length);
    if (!child_size) return std::nullopt;
    size += *child_size;
  }
  return size;
}

}  // namespace

std::optional<Buffer> FindLengths(const ArrowSchema& schema, const ArrowArray& array) {
  const std::string_view format = FormatOf(schema);
  if (!IsList(format) && !IsString(format)) return std::nullopt;
  Buffer lengths;
  auto* const out = lengths.Allocate<int64_t>(array.length);
  const Offsets offsets(array.buffers[1], HasWideOffsets(format), array.offset);
  const Nulls nulls(array, array.offset);
  for (int64_t i = 0; i < array.length; ++i) {
    out[i] = (offsets[i + 1] - offsets[i]) * !nulls[i];
  }
  return lengths;
}

std::optional<RowSplits> FindRowSplits(const ArrowSchema& schema, const ArrowArray& array) {
  const std::string_view format = FormatOf(schema);
  if (!IsList(format) && !IsString(format)) return std::nullopt;
  RowSplits found;
  auto* const splits = found.splits.Allocate<int64_t>(array.length + 1);
  splits[0] = 0;
  if (array.length == 0) return found;  // the offsets may be missing
  const Offsets offsets(array.buffers[1], HasWideOffsets(format), array.offset);
  const Nulls nulls(array, array.offset);
  found.first = offsets[0];
  int64_t begin = found.first;
  for (int64_t i = 0; i < array.length; ++i) {
    const int64_t end = offsets[i + 1];
    const int64_t length = (end - begin) * !nulls[i];  // no branch: nulls are unpredictable
    found.longest = std::max(found.longest, length);
    splits[i + 1] = splits[i] + length;
    begin = end;
  }
  found.without_gaps = splits[array.length] == begin - found.first;
  return found;
}

std::optional<Numbers> FindNumbers(const ArrowSchema& schema, const ArrowArray& array) {
  if (!IsList(FormatOf(schema))) return std::nullopt;
  const ArrowArray& values = *array.children[0];
  const std::string_view format = FormatOf(*schema.children[0]);
  const int64_t width = WidthOf(format);
  if (width == 0 || Nulls(values, 0).possible()) return std::nullopt;
  const auto* const data = static_cast<const char*>(values.buffers[1]);
  return Numbers{data + values.offset * width, format[0], width};
}

std::optional<int64_t> ByteSize(const ArrowSchema& schema, const ArrowArray& array) {
  return ByteSizeOf(schema, array, array.offset, array.length);
}

std::optional<int64_t> CountInvalidUtf8(const ArrowSchema& schema, const ArrowArray& array) {
  const std::string_view format = FormatOf(schema);
  if (!IsString(format)) return std::nullopt;
  if (array.length == 0) return 0;
  const Offsets offsets(array.buffers[1], HasWideOffsets(format), array.offset);
  const Nulls nulls(array, array.offset);
  const auto* const data = static_cast<const char*>(array.buffers[2]);
  int64_t count = 0;
  for (int64_t i = 0; i < array.length; ++i) {
    const auto size = static_cast<size_t>(offsets[i + 1] - offsets[i]);
    if (!nulls[i] && !IsUtf8({data + offsets[i], size})) ++count;
  }
  return count;
}

}  // namespace tfrecord_beam
