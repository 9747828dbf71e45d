// Columns of an Arrow record batch, read in place, in the form that the encoder needs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arrow_abi.h"
#include "arrow_layout.h"
#include "value_buffer.h"

namespace tfrecord_beam {

// Lists of the elements of another array.
struct Lists {
  Nulls nulls;
  Offsets offsets;
};

// The innermost values: numbers, or bytes with their offsets. Without a kind, all are null.
struct Values {
  Kind kind = Kind::kNone;
  Nulls nulls;
  const char* data = nullptr;
  Offsets offsets;
};

// Features, given by their values.
struct Features {
  std::optional<Lists> lists;  // nullopt: each has one value
  Values values;
};

// The bytes of a map entry up to the content of its Feature, with the lengths of an entry without
// content. As long as every length takes one byte, the size of the content is simply added to each.
struct SmallEntry {
  std::string bytes;
  std::array<uint8_t, 4> lengths{};  // their indexes; a BytesList has three, the last is repeated
  uint64_t max_content = 0;
};

// One column, read in place. A row of the context is one Feature; in feature lists it is a list of
// Features, `steps`.
struct EncodeColumn {
  std::string name;
  std::string key;         // the map entry's field 1
  std::string null_entry;  // the whole map entry of a Feature without a kind
  SmallEntry small_entry;
  std::optional<Lists> steps;  // nullopt in the context
  Features features;

  // Set by BatchEncoder: the content size of each Feature, in the order in which they are written.
  int64_t* content_sizes = nullptr;
};

// Reads the layout of `array` from element `first` on. False: its type cannot be encoded.
bool ReadColumn(const ArrowSchema& schema, const ArrowArray& array, int64_t first,
                bool is_feature_list, std::string_view name, EncodeColumn* column);

}  // namespace tfrecord_beam
