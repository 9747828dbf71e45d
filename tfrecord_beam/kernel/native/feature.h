// A tf.train.Feature: its value lists, read into a column or only checked.
//
//   message Feature   { oneof kind { BytesList bytes_list = 1;
//                                    FloatList float_list = 2;
//                                    Int64List int64_list = 3; } }
//   message BytesList { repeated bytes value = 1; }   and FloatList, Int64List alike
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "value_buffer.h"
#include "wire.h"

namespace tfrecord_beam {

// Stands in for a column if values are only checked.
struct Discard {
  void AddVarint(uint64_t) {}
  bool AddPackedVarints(std::string_view packed) {
    uint64_t* nowhere = nullptr;
    return DecodeVarints<false>(packed, nowhere, &nowhere);
  }
  void AddFloats(std::string_view) {}
  void AddBytes(std::string_view) {}
};

template <typename Sink>
bool ReadInt64List(Cursor list, int depth, Sink& sink) {
  while (!list.done()) {
    Cursor packed;
    uint32_t field;
    WireType type;
    uint64_t value;
    if (list.TakeField(LengthTag(1), &packed)) {
      if (!sink.AddPackedVarints(packed.bytes())) return false;
    } else if (!list.ReadTag(&field, &type)) {
      return false;
    } else if (field == 1 && type == WireType::kLength) {
      if (!list.ReadMessage(&packed) || !sink.AddPackedVarints(packed.bytes())) return false;
    } else if (field == 1 && type == WireType::kVarint) {
      if (!list.ReadVarint(&value)) return false;
      sink.AddVarint(value);
    } else if (!list.SkipValue(field, type, depth)) {
      return false;
    }
  }
  return true;
}

template <typename Sink>
bool ReadFloatList(Cursor list, int depth, Sink& sink) {
  while (!list.done()) {
    uint32_t field;
    WireType type;
    std::string_view floats;
    if (!list.ReadTag(&field, &type)) return false;
    if (field == 1 && type == WireType::kLength) {
      if (!list.ReadBytes(&floats) || floats.size() % sizeof(float) != 0) return false;
      sink.AddFloats(floats);
    } else if (field == 1 && type == WireType::kFixed32) {
      if (!list.ReadFixed32(&floats)) return false;
      sink.AddFloats(floats);
    } else if (!list.SkipValue(field, type, depth)) {
      return false;
    }
  }
  return true;
}

template <typename Sink>
bool ReadBytesList(Cursor list, int depth, Sink& sink) {
  while (!list.done()) {
    Cursor value;
    uint32_t field;
    WireType type;
    if (list.TakeField(LengthTag(1), &value)) {
      sink.AddBytes(value.bytes());
    } else if (!list.ReadTag(&field, &type)) {
      return false;
    } else if (field == 1 && type == WireType::kLength) {
      if (!list.ReadMessage(&value)) return false;
      sink.AddBytes(value.bytes());
    } else if (!list.SkipValue(field, type, depth)) {
      return false;
    }
  }
  return true;
}

template <typename Sink>
bool ReadList(Kind kind, Cursor list, int depth, Sink& sink) {
  switch (kind) {
    case Kind::kBytes:
      return ReadBytesList(list, depth, sink);
    case Kind::kFloat:
      return ReadFloatList(list, depth, sink);
    case Kind::kInt64:
      return ReadInt64List(list, depth, sink);
    case Kind::kNone:
      break;
  }
  return true;
}

inline bool CheckList(Kind kind, Cursor list, int depth) {
  Discard discard;
  return ReadList(kind, list, depth, discard);
}

// Adds a list in the usual form: only values and, if they are numbers, as one packed field. False:
// it has another form, and nothing is added.
[[gnu::always_inline]] inline bool AddUsualList(Kind kind, Cursor list, ValueBuffer& values) {
  if (list.done()) return true;
  Cursor content;
  if (!list.TakeField(LengthTag(1), &content)) return false;
  if (kind == Kind::kBytes) {
    const int64_t before = values.count();
    values.AddBytes(content.bytes());
    while (list.TakeField(LengthTag(1), &content)) values.AddBytes(content.bytes());
    if (list.done()) return true;
    values.Truncate(before);
    return false;
  }
  if (!list.done()) return false;
  if (kind == Kind::kInt64) return values.AddPackedVarints(content.bytes());
  if (kind == Kind::kNone || content.left() % sizeof(float) != 0) return false;
  values.AddFloats(content.bytes());
  return true;
}

inline bool IsKind(Kind kind) { return kind >= Kind::kBytes && kind <= Kind::kInt64; }

// Returns the list of a Feature that consists of a single list, as nearly all do.
inline bool TakeOneList(Cursor feature, Kind* kind, Cursor* list) {
  if (feature.done()) return false;
  const uint8_t tag = *feature.position();
  *kind = static_cast<Kind>(tag >> 3);
  return IsKind(*kind) && feature.TakeField(LengthTag(static_cast<uint32_t>(*kind)), list) &&
         feature.done();
}

// Finds the lists of a Feature that may come in several parts: the consecutive ones of the last
// kind, which merge into one. All lists are checked. `depth`: how many messages enclose the fields
// of the Feature.
bool MergeLists(const std::vector<Cursor>& parts, int depth, Kind* kind,
                std::vector<Cursor>* lists);

}  // namespace tfrecord_beam
