#include "encode_columns.h"

#include "wire_writer.h"

namespace tfrecord_beam {
namespace {

// The largest length that takes one byte.
constexpr size_t kOneByte = 127;

bool IsFormat(const ArrowSchema& schema, std::string_view narrow, std::string_view wide) {
  return schema.format == narrow || schema.format == wide;
}

// Steps into `schema` and `array` if they are lists.
std::optional<Lists> ReadLists(const ArrowSchema*& schema, const ArrowArray*& array,
                               int64_t& first) {
  if (!IsFormat(*schema, "+l", "+L") || schema->dictionary != nullptr) return std::nullopt;
  const bool wide = schema->format[1] == 'L';
  const Lists lists{Nulls(*array, first), Offsets(array->buffers[1], wide, first)};
  schema = schema->children[0];
  array = array->children[0];
  first = array->offset;
  return lists;
}

bool ReadValues(const ArrowSchema& schema, const ArrowArray& array, int64_t first, Values* values) {
  if (schema.dictionary != nullptr) return false;
  const std::string_view format = schema.format;
  if (format == "n") {
    values->nulls = Nulls::All();
    return true;
  }
  const bool wide_bytes = IsFormat(schema, "Z", "U");
  if (wide_bytes || IsFormat(schema, "z", "u")) {
    values->kind = Kind::kBytes;
    values->offsets = Offsets(array.buffers[1], wide_bytes, first);
    values->data = static_cast<const char*>(array.buffers[2]);
  } else if (format == "l" || format == "f") {
    values->kind = format == "l" ? Kind::kInt64 : Kind::kFloat;
    const auto size = static_cast<int64_t>(format == "l" ? sizeof(int64_t) : sizeof(float));
    values->data = static_cast<const char*>(array.buffers[1]) + first * size;
  } else {
    return false;
  }
  values->nulls = Nulls(array, first);
  return true;
}

SmallEntry MakeSmallEntry(const std::string& key, Kind kind) {
  SmallEntry entry;
  const auto add = [&](uint32_t field) {
    entry.bytes += static_cast<char>(LengthTag(field));
    entry.bytes += '\0';
    return static_cast<uint8_t>(entry.bytes.size() - 1);
  };
  if (kind == Kind::kNone || key.size() > kOneByte) return entry;
  entry.lengths[0] = add(1);
  entry.bytes += key;
  entry.lengths[1] = add(2);
  entry.lengths[2] = add(static_cast<uint32_t>(kind));
  entry.lengths[3] = kind == Kind::kBytes ? entry.lengths[2] : add(1);
  for (const size_t at : entry.lengths) {
    entry.bytes[at] = static_cast<char>(entry.bytes.size() - 1 - at);
  }
  const auto longest = static_cast<uint8_t>(entry.bytes[entry.lengths[0]]);
  if (longest < kOneByte) entry.max_content = kOneByte - longest;
  return entry;
}

}  // namespace

bool ReadColumn(const ArrowSchema& schema, const ArrowArray& array, int64_t first,
                bool is_feature_list, std::string_view name, EncodeColumn* column) {
  column->name = name;
  column->key.resize(static_cast<size_t>(FieldSize(static_cast<int64_t>(name.size()))));
  auto* const key = reinterpret_cast<uint8_t*>(column->key.data());
  WriteBytes(name, WriteHeader(1, static_cast<int64_t>(name.size()), key));

  const std::string no_value{static_cast<char>(LengthTag(2)), 0};
  const auto entry_size = static_cast<int64_t>(column->key.size() + no_value.size());
  column->null_entry.resize(static_cast<size_t>(FieldSize(entry_size)));
  auto* const entry = reinterpret_cast<uint8_t*>(column->null_entry.data());
  WriteBytes(no_value, WriteBytes(column->key, WriteHeader(1, entry_size, entry)));

  const ArrowSchema* inner_schema = &schema;
  const ArrowArray* inner = &array;
  first += array.offset;
  if (is_feature_list) {
    column->steps = ReadLists(inner_schema, inner, first);
    if (!column->steps) {
      column->steps = Lists{Nulls::All(), {}};
      return std::string_view(schema.format) == "n";
    }
  }
  Features& features = column->features;
  features.lists = ReadLists(inner_schema, inner, first);
  if (!ReadValues(*inner_schema, *inner, first, &features.values)) return false;
  column->small_entry = MakeSmallEntry(column->key, features.values.kind);
  return true;
}

}  // namespace tfrecord_beam
