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

// Whether offsets that begin with 0 are row splits: no null list spans values, and they are
// aligned. Sets the length of the longest list.
bool AreRowSplits(const int64_t* offsets, int64_t lists, const Nulls& nulls, int64_t* longest) {
  if (reinterpret_cast<uintptr_t>(offsets) % alignof(int64_t) != 0) return false;
  int64_t total = 0;
  int64_t signs = 0;
  nulls.ForEachValid(lists, [&](int64_t i) {  // the offsets of null lists are not read
    const int64_t length = offsets[i + 1] - offsets[i];
    *longest = std::max(*longest, length);
    total += length;
    signs |= length;
  });
  return total == offsets[lists] && signs >= 0;
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
  if (array.length == 0) {  // the offsets may be missing
    found.splits = found.owned.Allocate<int64_t>(1);
    *found.owned.as<int64_t>() = 0;
    return found;
  }
  const bool wide = HasWideOffsets(format);
  const Offsets offsets(array.buffers[1], wide, array.offset);
  const Nulls nulls(array, array.offset);
  found.first = offsets[0];
  if (wide && found.first == 0) {
    const auto* const own = static_cast<const int64_t*>(array.buffers[1]) + array.offset;
    if (AreRowSplits(own, array.length, nulls, &found.longest)) {
      found.splits = own;
      return found;
    }
  }
  auto* const splits = found.owned.Allocate<int64_t>(array.length + 1);
  found.splits = splits;
  splits[0] = 0;
  found.longest = 0;
  int64_t signs = 0;
  int64_t begin = found.first;
  for (int64_t i = 0; i < array.length; ++i) {
    const int64_t end = offsets[i + 1];
    const int64_t length = (end - begin) * !nulls[i];  // no branch: nulls are unpredictable
    found.longest = std::max(found.longest, length);
    splits[i + 1] = splits[i] + length;
    signs |= length;
    begin = end;
  }
  found.without_gaps = splits[array.length] == begin - found.first && signs >= 0;
  return found;
}

std::optional<ValueLists> FindValueLists(const ArrowSchema& schema, const ArrowArray& array) {
  if (!IsList(FormatOf(schema))) return std::nullopt;
  const ArrowArray& values = *array.children[0];
  const std::string_view format = FormatOf(*schema.children[0]);
  const int64_t width = WidthOf(format);
  const bool is_string = IsString(format);
  if ((width == 0 && !is_string) || Nulls(values, 0).possible()) return std::nullopt;
  ValueLists found;
  found.rows = *FindRowSplits(schema, array);
  if (!found.rows.without_gaps) return std::nullopt;
  found.count = found.rows.splits[array.length];
  const int64_t first = values.offset + found.rows.first;
  if (is_string) {
    found.data = static_cast<const char*>(values.buffers[2]);
    found.offsets = Offsets(values.buffers[1], HasWideOffsets(format), first);
  } else {
    found.format = format[0];
    found.data = static_cast<const char*>(values.buffers[1]) + first * width;
  }
  return found;
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
