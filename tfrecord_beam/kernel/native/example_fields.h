// The fields of a tf.train.Example, alone or in a list.
#pragma once

#include "feature_maps.h"
#include "wire.h"

namespace tfrecord_beam {

// Reads an Example into the current row. Sets `has_field_2` if it has a field 2 that might be the
// feature lists of a SequenceExample.
inline bool ReadExample(Cursor example, int depth, FeatureMap& features, bool* has_field_2) {
  while (!example.done()) {
    uint32_t field;
    WireType type;
    if (!example.ReadTag(&field, &type)) return false;
    if (field == 1 && type == WireType::kLength) {
      Cursor map;
      if (!example.ReadMessage(&map) || !features.Read(map)) return false;
      continue;
    }
    if (field == 2 && type == WireType::kLength) *has_field_2 = true;
    if (!example.SkipValue(field, type, depth)) return false;
  }
  return true;
}

}  // namespace tfrecord_beam
