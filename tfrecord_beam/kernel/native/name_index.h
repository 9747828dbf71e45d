// A small hash table from feature names to column numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "short_bytes.h"

namespace tfrecord_beam {

// Names are views: the caller keeps their bytes alive.
class NameIndex {
 public:
  static constexpr int kNotFound = -1;

  int Find(std::string_view name) const {
    if (slots_.empty()) return kNotFound;
    const uint64_t hash = HashBytes(name);
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.column == kNotFound) return kNotFound;
      if (slot.hash == hash && EqualBytes(slot.name, name)) return slot.column;
    }
  }

  // `name` is not in the table yet.
  void Add(std::string_view name, int column) {
    if (2 * (size_ + 1) > slots_.size()) Rehash(slots_.empty() ? 16 : 2 * slots_.size());
    Insert({HashBytes(name), name, column});
    ++size_;
  }

  void Clear() {
    slots_.clear();
    size_ = 0;
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    std::string_view name;
    int column = kNotFound;
  };

  size_t mask() const { return slots_.size() - 1; }

  void Insert(const Slot& slot) {
    size_t at = slot.hash & mask();
    while (slots_[at].column != kNotFound) at = (at + 1) & mask();
    slots_[at] = slot;
  }

  void Rehash(size_t slots) {
    std::vector<Slot> old(slots);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.column != kNotFound) Insert(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half full
  size_t size_ = 0;
};

}  // namespace tfrecord_beam
