// Batches of columns in every layout are encoded; a plain writer says what has to come out.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encode.h"
#include "framing.h"
#include "input.h"

namespace tfrecord_beam {
namespace {

template <typename T>
using Nullable = std::optional<T>;

using Value = Nullable<std::string>;  // as it lies in memory
using Feature = Nullable<std::vector<Value>>;
using FeatureList = Nullable<std::vector<Feature>>;

// --- Arrow arrays -------------------------------------------------------------------------------

// An array with all that it points to, each buffer of exactly its size.
struct Node {
  ArrowSchema schema{};
  ArrowArray array{};
  std::vector<ExactBytes> memory;
  std::array<const void*, 3> buffers{};
  std::unique_ptr<Node> child;
  ArrowSchema* child_schema = nullptr;
  ArrowArray* child_array = nullptr;
};

const void* Keep(Node* node, std::string_view bytes) {
  node->memory.emplace_back(bytes);
  return node->memory.back().data();
}

template <typename Number>
const void* KeepNumbers(Node* node, const std::vector<int64_t>& values) {
  const std::vector<Number> numbers(values.begin(), values.end());
  return Keep(node,
              {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
}

const void* KeepOffsets(Node* node, const std::vector<int64_t>& offsets, bool wide) {
  return wide ? KeepNumbers<int64_t>(node, offsets) : KeepNumbers<int32_t>(node, offsets);
}

// A node of elements, of which the first `skipped` are in the buffers only.
template <typename T>
std::unique_ptr<Node> MakeNode(const char* format, const std::vector<Nullable<T>>& elements,
                               size_t skipped) {
  auto node = std::make_unique<Node>();
  node->memory.reserve(3);
  std::string valid((elements.size() + 7) / 8, '\0');
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i]) {
      valid[i / 8] = static_cast<char>(valid[i / 8] | 1 << i % 8);
    } else if (i >= skipped) {
      ++node->array.null_count;
    }
  }
  node->schema.format = format;
  node->array.length = static_cast<int64_t>(elements.size() - skipped);
  node->array.offset = static_cast<int64_t>(skipped);
  node->array.buffers = node->buffers.data();
  if (node->array.null_count != 0) node->buffers[0] = Keep(node.get(), valid);
  return node;
}

// How a column lies in memory.
struct Layout {
  Kind kind;
  bool wide;
  size_t skipped;
};

std::unique_ptr<Node> MakeArray(const std::vector<Value>& values, const Layout& layout) {
  const char* const bytes_format = layout.wide ? "Z" : "u";
  const char* const format = layout.kind == Kind::kNone    ? "n"
                             : layout.kind == Kind::kFloat ? "f"
                             : layout.kind == Kind::kInt64 ? "l"
                                                           : bytes_format;
  auto node = MakeNode(format, values, layout.skipped);
  std::string data;
  std::vector<int64_t> offsets{0};
  for (const Value& value : values) {
    if (value) data += *value;
    if (!value && layout.kind != Kind::kBytes) data.resize(data.size() + (*format == 'f' ? 4 : 8));
    offsets.push_back(static_cast<int64_t>(data.size()));
  }
  if (layout.kind == Kind::kBytes) {
    node->buffers[1] = KeepOffsets(node.get(), offsets, layout.wide);
    node->buffers[2] = Keep(node.get(), data);
  } else if (layout.kind != Kind::kNone) {
    node->buffers[1] = Keep(node.get(), data);
  }
  return node;
}

template <typename T>
std::unique_ptr<Node> MakeArray(const std::vector<Nullable<std::vector<T>>>& lists,
                                const Layout& layout) {
  auto node = MakeNode(layout.wide ? "+L" : "+l", lists, layout.skipped);
  std::vector<T> elements(layout.skipped);  // before those of the first list
  std::vector<int64_t> offsets{0};
  for (const Nullable<std::vector<T>>& list : lists) {
    if (list) {
      elements.insert(elements.end(), list->begin(), list->end());
    } else {
      elements.emplace_back();  // what lies below a null is not looked at
    }
    offsets.push_back(static_cast<int64_t>(elements.size() - layout.skipped));
  }
  node->buffers[1] = KeepOffsets(node.get(), offsets, layout.wide);
  node->child = MakeArray(elements, layout);
  node->child_schema = &node->child->schema;
  node->child_array = &node->child->array;
  node->schema.children = &node->child_schema;
  node->array.children = &node->child_array;
  node->schema.n_children = node->array.n_children = 1;
  return node;
}

// --- What is encoded ----------------------------------------------------------------------------

struct Column {
  std::string name;
  Layout layout;
  bool in_lists;                  // else each Feature is one value
  std::vector<FeatureList> rows;  // in the context each of one Feature
  std::unique_ptr<Node> node;     // with rows before, as many as are skipped
};

Value TakeValue(Input* input, Kind kind) {
  const auto number = input->Take<uint64_t>();
  const auto bits = input->Take<uint8_t>();
  if (bits % 16 == 15) return std::nullopt;
  switch (kind) {
    case Kind::kNone:
      return std::nullopt;
    case Kind::kBytes:
      return std::string(number % 16 == 0 ? number % 211 : number % 7, static_cast<char>(bits));
    default:
      break;
  }
  const uint64_t value = number >> bits % 64;
  return std::string(reinterpret_cast<const char*>(&value), kind == Kind::kFloat ? 4 : 8);
}

Feature TakeFeature(Input* input, const Column& column) {
  const auto count = column.in_lists ? input->Take<uint8_t>() % 16 : 1;
  if (count == 15) return std::nullopt;
  std::vector<Value> values;
  for (int i = 0; i < count; ++i) values.push_back(TakeValue(input, column.layout.kind));
  if (!column.in_lists && !values[0]) return std::nullopt;
  return values;
}

std::vector<Value> Singles(const std::vector<Feature>& features) {
  std::vector<Value> values;
  for (const Feature& feature : features) values.push_back(feature ? (*feature)[0] : std::nullopt);
  return values;
}

Column TakeColumn(Input* input, size_t rows, bool is_feature_list, size_t number) {
  const auto flags = input->Take<uint8_t>();
  const auto name_size = input->Take<uint8_t>() % 140;
  Column column;
  column.name = std::string(static_cast<size_t>(name_size), 'n') + std::to_string(number);
  column.layout = {static_cast<Kind>(flags % 4), (flags & 4) != 0, flags / 8 % 4u};
  column.in_lists = (flags & 32) != 0;
  std::vector<Feature> features;
  for (size_t row = 0; row < rows + column.layout.skipped; ++row) {
    const auto steps = is_feature_list ? input->Take<uint8_t>() % 5 : 1;
    if (steps == 4) {
      column.rows.emplace_back();
      continue;
    }
    auto& list = column.rows.emplace_back(std::in_place);
    for (int i = 0; i < steps; ++i) list->push_back(TakeFeature(input, column));
    if (!is_feature_list) features.push_back((*list)[0]);
  }
  if (!is_feature_list) {
    column.node = column.in_lists ? MakeArray(features, column.layout)
                                  : MakeArray(Singles(features), column.layout);
  } else if (column.in_lists) {
    column.node = MakeArray(column.rows, column.layout);
  } else {
    std::vector<Feature> lists;
    for (const FeatureList& list : column.rows) {
      lists.push_back(list ? Feature(Singles(*list)) : std::nullopt);
    }
    column.node = MakeArray(lists, column.layout);
  }
  const auto skipped = static_cast<std::ptrdiff_t>(column.layout.skipped);
  column.rows.erase(column.rows.begin(), column.rows.begin() + skipped);
  return column;
}

// --- The plain writer ---------------------------------------------------------------------------

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string Field(int number, const std::string& content) {
  return static_cast<char>(number << 3 | 2) + Varint(content.size()) + content;
}

std::string FeatureBytes(const Feature& feature, Kind kind) {
  if (!feature || kind == Kind::kNone) return "";
  std::string content;
  for (const Value& value : *feature) {
    uint64_t number = 0;
    if (kind == Kind::kInt64) std::memcpy(&number, value->data(), sizeof(number));
    content += kind == Kind::kBytes   ? Field(1, *value)
               : kind == Kind::kFloat ? *value
                                      : Varint(number);
  }
  const bool is_packed = kind != Kind::kBytes && !content.empty();
  return Field(static_cast<int>(kind), is_packed ? Field(1, content) : content);
}

std::string Entry(const Column& column, const std::string& value) {
  return Field(1, Field(1, column.name) + Field(2, value));
}

struct Batch {
  size_t rows;
  std::vector<Column> context;
  std::vector<Column> feature_lists;
  bool is_sequence;
  bool null_as_absent;
};

std::string RecordBytes(const Batch& batch, size_t row) {
  std::string context;
  for (const Column& column : batch.context) {
    const std::string feature = FeatureBytes((*column.rows[row])[0], column.layout.kind);
    if (!feature.empty() || !batch.null_as_absent) context += Entry(column, feature);
  }
  if (!batch.is_sequence) return Field(1, context);
  std::string lists;
  for (const Column& column : batch.feature_lists) {
    if (!column.rows[row]) continue;
    std::string list;
    for (const Feature& step : *column.rows[row]) {
      list += Field(1, FeatureBytes(step, column.layout.kind));
    }
    lists += Entry(column, list);
  }
  return Field(1, context) + Field(2, lists);
}

bool HasNullValue(const FeatureList& list) {
  if (!list) return false;
  for (const Feature& feature : *list) {
    if (!feature) continue;
    for (const Value& value : *feature) {
      if (!value) return true;
    }
  }
  return false;
}

std::optional<EncodeFailure> FindFailure(const Batch& batch) {
  for (size_t row = 0; row < batch.rows; ++row) {
    for (const auto* columns : {&batch.context, &batch.feature_lists}) {
      for (const Column& column : *columns) {
        if (!HasNullValue(column.rows[row])) continue;
        return EncodeFailure{EncodeFault::kNullValue, static_cast<int64_t>(row), column.name};
      }
    }
  }
  return std::nullopt;
}

// --- The checks ---------------------------------------------------------------------------------

std::vector<EncodeColumn> ReadColumns(const std::vector<Column>& columns, bool are_feature_lists) {
  std::vector<EncodeColumn> read(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const Node& node = *columns[i].node;
    CHECK(ReadColumn(node.schema, node.array, 0, are_feature_lists, columns[i].name, &read[i]));
  }
  return read;
}

void CheckRecords(const BatchEncoder& encoder, const std::vector<std::string>& expected) {
  std::vector<ExactBytes> records;
  std::vector<uint8_t*> ends;
  for (const std::string& record : expected) {
    records.emplace_back(std::string(record.size(), '\0'));
    ends.push_back(records.back().data());
  }
  encoder.Write(ends);
  for (size_t i = 0; i < records.size(); ++i) CHECK(records[i].view() == expected[i]);
}

void CheckFrames(const BatchEncoder& encoder, const std::vector<std::string>& expected) {
  size_t size = 0;
  std::vector<size_t> starts;
  for (const std::string& record : expected) {
    starts.push_back(size + kHeaderSize);
    size += kHeaderSize + record.size() + kFooterSize;
  }
  ExactBytes file(std::string(size, '\0'));
  std::vector<uint8_t*> ends;
  for (const size_t start : starts) ends.push_back(file.data() + start);
  encoder.WriteFrames(ends);
  std::string frames(size, '\0');
  auto* end = reinterpret_cast<uint8_t*>(frames.data());
  for (const std::string& record : expected) end = WriteFrame(record, end);
  CHECK(file.view() == frames);
}

}  // namespace

void FuzzEncode(Input input) {
  const auto flags = input.Take<uint8_t>();
  Batch batch{input.Take<uint8_t>() % 70u, {}, {}, (flags & 1) != 0, (flags & 2) != 0};
  for (size_t i = 0; i < flags / 4 % 4u; ++i) {
    batch.context.push_back(TakeColumn(&input, batch.rows, false, i));
  }
  for (size_t i = 0; batch.is_sequence && i < flags / 16 % 4u; ++i) {
    batch.feature_lists.push_back(TakeColumn(&input, batch.rows, true, i));
  }
  EncodeBatch read{static_cast<int64_t>(batch.rows), ReadColumns(batch.context, false),
                   std::nullopt, batch.null_as_absent};
  if (batch.is_sequence) read.feature_lists = ReadColumns(batch.feature_lists, true);

  BatchEncoder encoder(std::move(read));
  const std::optional<EncodeFailure> failure = encoder.Measure();
  const std::optional<EncodeFailure> expected_failure = FindFailure(batch);
  CHECK(failure.has_value() == expected_failure.has_value());
  if (failure) {
    CHECK(failure->fault == expected_failure->fault);
    CHECK(failure->record == expected_failure->record);
    CHECK(failure->feature == expected_failure->feature);
    return;
  }
  std::vector<std::string> expected;
  for (size_t row = 0; row < batch.rows; ++row) expected.push_back(RecordBytes(batch, row));
  CHECK(encoder.sizes().size() == expected.size());
  for (size_t row = 0; row < batch.rows; ++row) {
    CHECK(encoder.sizes()[row] == static_cast<int64_t>(expected[row].size()));
  }
  CheckRecords(encoder, expected);
  CheckFrames(encoder, expected);
}

}  // namespace tfrecord_beam
