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
    const uint64_t hash = Hash(name);
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.column == kNotFound) return kNotFound;
      if (slot.hash == hash && EqualBytes(slot.name, name)) return slot.column;
    }
  }

  // `name` is not in the table yet.
  void Add(std::string_view name, int column) {
    if (2 * (size_ + 1) > slots_.size()) Rehash(slots_.empty() ? 16 : 2 * slots_.size());
    Insert({Hash(name), name, column});
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

  // Multiply and fold, a word at a time; the last word may overlap the one before it.
  static uint64_t Hash(std::string_view name) {
    constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
    const size_t size = name.size();
    uint64_t hash = size * kMultiplier;
    const auto mix = [&hash](uint64_t word) {
      hash = (hash ^ word) * kMultiplier;
      hash ^= hash >> 32;
    };
    const char* const data = name.data();
    if (size >= 8) {
      for (size_t at = 0; at + 8 < size; at += 8) mix(LoadWord<uint64_t>(data + at));
      mix(LoadWord<uint64_t>(data + size - 8));
    } else if (size >= 4) {
      mix(uint64_t{LoadWord<uint32_t>(data)} << 32 | LoadWord<uint32_t>(data + size - 4));
    } else if (size > 0) {
      const auto byte = [data](size_t at) { return uint64_t{static_cast<uint8_t>(data[at])}; };
      mix(byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1));
    }
    return hash;
  }

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
