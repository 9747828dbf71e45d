// Columns of an Arrow record batch, read where they lie, as the encoder takes them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arrow_abi.h"
#include "arrow_layout.h"
#include "value_buffer.h"

namespace tfrecord_beam {

// Lists of the elements of another array.
struct Lists {
  Nulls nulls;
  Offsets offsets;
};

// The innermost values: numbers, or bytes with their offsets. Without a kind all are null.
struct Values {
  Kind kind = Kind::kNone;
  Nulls nulls;
  const char* data = nullptr;
  Offsets offsets;
};

// Features, by their values.
struct Features {
  std::optional<Lists> lists;  // absent: one value in each
  Values values;
};

// A map entry up to the content of its Feature: lengths are those without content. Where no length
// takes more than a byte, the content's size is all that has to be added to each.
struct SmallEntry {
  std::string bytes;
  std::array<uint8_t, 4> lengths{};  // where they stand, the last one twice in a BytesList
  uint64_t max_content = 0;
};

// One column, read where it lies. A row of the context is one Feature; in feature lists it is a
// list of them, `steps`.
struct EncodeColumn {
  std::string name;
  std::string key;  // the map entry's field 1
  SmallEntry small_entry;
  std::optional<Lists> steps;  // absent in the context
  Features features;

  // Noted by BatchEncoder: what each Feature holds, in the order in which they are written.
  std::vector<int64_t> content_sizes;
};

// Finds the parts of `array` from element `first` on. False: it is of no type that is encoded.
bool ReadColumn(const ArrowSchema& schema, const ArrowArray& array, int64_t first,
                bool is_feature_list, std::string_view name, EncodeColumn* column);

}  // namespace tfrecord_beam
