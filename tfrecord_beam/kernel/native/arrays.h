// Properties of whole arrays, including slices, which any library may have built.
#pragma once

#include <cstdint>
#include <optional>

#include "arrow_abi.h"
#include "arrow_layout.h"
#include "columns.h"

namespace tfrecord_beam {

struct RowSplits {
  const int64_t* splits = nullptr;  // 0 and where each list ends; a null list is empty
  Buffer owned;                     // holds the splits, unless they are the array's own offsets
  int64_t longest = 0;              // the length of the longest list
  int64_t first = 0;                // index of the first value that the lists span
  bool without_gaps = true;         // whether no null list spans values
};

// All of these return nullopt for a type that is not supported.

// The length of each list or string as int64, 0 for a null.
std::optional<Buffer> FindLengths(const ArrowSchema& schema, const ArrowArray& array);

// For lists, or for strings, whose values are bytes.
std::optional<RowSplits> FindRowSplits(const ArrowSchema& schema, const ArrowArray& array);

// Lists of numbers or strings, none of which is null.
struct ValueLists {
  RowSplits rows;
  int64_t count = 0;           // of values
  const char* data = nullptr;  // the first number, or the bytes of all strings
  char format = 0;             // of numbers, in the notation of the C data interface; 0: strings
  Offsets offsets;             // of strings
};

// Returns nullopt also if a value may be null, or if a null list spans values.
std::optional<ValueLists> FindValueLists(const ArrowSchema& schema, const ArrowArray& array);

// The size of an array in bytes: values, offsets and validity of the slice. Supports nulls, bools,
// integers, float and double, strings, and lists and structs of these.
std::optional<int64_t> ByteSize(const ArrowSchema& schema, const ArrowArray& array);

// How many strings are not UTF-8. Nulls are not counted.
std::optional<int64_t> CountInvalidUtf8(const ArrowSchema& schema, const ArrowArray& array);

}  // namespace tfrecord_beam
