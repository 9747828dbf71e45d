// The value lists of a tf.train.Feature, read into a column or only checked:
//
//   message BytesList { repeated bytes value = 1; }   and FloatList, Int64List alike
#pragma once

#include <cstdint>
#include <string_view>

#include "list_column.h"
#include "wire.h"

namespace tfrecord_beam {

// Takes the place of a column where values are only checked.
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

// Adds a list that is empty or one field 1, packed if it holds numbers. False: it is not, and
// nothing is added.
[[gnu::always_inline]] inline bool AddUsualList(Kind kind, Cursor list, ListColumn& column) {
  if (list.done()) return true;
  Cursor content;
  if (!list.TakeField(LengthTag(1), &content) || !list.done()) return false;
  switch (kind) {
    case Kind::kBytes:
      column.AddBytes(content.bytes());
      return true;
    case Kind::kFloat:
      if (content.left() % sizeof(float) != 0) return false;
      column.AddFloats(content.bytes());
      return true;
    case Kind::kInt64:
      return column.AddPackedVarints(content.bytes());
    case Kind::kNone:
      break;
  }
  return false;
}

inline bool IsKind(uint32_t field, WireType type) {
  return type == WireType::kLength && field >= 1 && field <= 3;
}

}  // namespace tfrecord_beam
