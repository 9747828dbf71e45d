// What is asked of whole arrays, slices too, that any library may have made.
#pragma once

#include <cstdint>
#include <optional>

#include "arrow_abi.h"
#include "columns.h"

namespace tfrecord_beam {

struct RowSplits {
  Buffer splits;             // int64, 0 and where each list ends; a null one is empty
  int64_t longest = 0;       // the length of the longest list
  int64_t first = 0;         // the first of the values that lists span
  bool without_gaps = true;  // whether the values that null lists span, of no list, are none
};

// All of these: none if the type is not served.

// How long each list or string is, as int64; 0 for a null one.
std::optional<Buffer> FindLengths(const ArrowSchema& schema, const ArrowArray& array);

// Of lists, or of strings, whose values are bytes.
std::optional<RowSplits> FindRowSplits(const ArrowSchema& schema, const ArrowArray& array);

// The numbers in lists.
struct Numbers {
  const char* data = nullptr;
  char format = 0;    // as Arrow's C data interface calls the type
  int64_t width = 0;  // in bytes
};

// None also if a number may be null.
std::optional<Numbers> FindNumbers(const ArrowSchema& schema, const ArrowArray& array);

// How many bytes an array takes: its values, offsets and validity, each of the slice. Serves nulls,
// bools, integers, float and double, strings, and lists and structs of these.
std::optional<int64_t> ByteSize(const ArrowSchema& schema, const ArrowArray& array);

// How many strings are not UTF-8. A null is none.
std::optional<int64_t> CountInvalidUtf8(const ArrowSchema& schema, const ArrowArray& array);

}  // namespace tfrecord_beam
