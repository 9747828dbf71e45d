// Properties of whole arrays, including slices, which any library may have built.
#pragma once

#include <cstdint>
#include <optional>

#include "arrow_abi.h"
#include "columns.h"

namespace tfrecord_beam {

struct RowSplits {
  Buffer splits;             // int64, 0 and where each list ends; a null list is empty
  int64_t longest = 0;       // the length of the longest list
  int64_t first = 0;         // index of the first value that the lists span
  bool without_gaps = true;  // whether no null list spans values
};

// All of these return nullopt for a type that is not supported.

// The length of each list or string as int64, 0 for a null.
std::optional<Buffer> FindLengths(const ArrowSchema& schema, const ArrowArray& array);

// For lists, or for strings, whose values are bytes.
std::optional<RowSplits> FindRowSplits(const ArrowSchema& schema, const ArrowArray& array);

// The numbers in lists.
struct Numbers {
  const char* data = nullptr;
  char format = 0;    // the type in the notation of Arrow's C data interface
  int64_t width = 0;  // in bytes
};

// Returns nullopt also if a number may be null.
std::optional<Numbers> FindNumbers(const ArrowSchema& schema, const ArrowArray& array);

// The size of an array in bytes: values, offsets and validity of the slice. Supports nulls, bools,
// integers, float and double, strings, and lists and structs of these.
std::optional<int64_t> ByteSize(const ArrowSchema& schema, const ArrowArray& array);

// How many strings are not UTF-8. Nulls are not counted.
std::optional<int64_t> CountInvalidUtf8(const ArrowSchema& schema, const ArrowArray& array);

}  // namespace tfrecord_beam
