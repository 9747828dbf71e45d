#include "feature.h"

namespace tfrecord_beam {

bool MergeLists(const std::vector<Cursor>& parts, int depth, Kind* kind,
                std::vector<Cursor>* lists) {
  *kind = Kind::kNone;
  for (Cursor part : parts) {
    while (!part.done()) {
      uint32_t field;
      WireType type;
      if (!part.ReadTag(&field, &type)) return false;
      if (type != WireType::kLength || !IsKind(static_cast<Kind>(field))) {
        if (!part.SkipValue(field, type, depth)) return false;
        continue;
      }
      if (static_cast<Kind>(field) != *kind) lists->clear();
      *kind = static_cast<Kind>(field);
      Cursor list;
      if (!part.ReadMessage(&list) || !CheckList(*kind, list, depth + 1)) return false;
      lists->push_back(list);
    }
  }
  return true;
}

}  // namespace tfrecord_beam
