// Loading, copying, comparing and hashing of a few bytes without a call: names and most string
// values are that short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tfrecord_beam {

template <typename Word>
Word LoadWord(const void* data) {
  Word word;
  std::memcpy(&word, data, sizeof(word));
  return word;
}

// From sizeof(Word) to 2 * sizeof(Word) bytes are two words that may overlap.
template <typename Word>
void CopyTwoWords(const char* from, size_t size, char* to) {
  const auto first = LoadWord<Word>(from);
  const auto last = LoadWord<Word>(from + size - sizeof(Word));
  std::memcpy(to, &first, sizeof(Word));
  std::memcpy(to + size - sizeof(Word), &last, sizeof(Word));
}

struct Word128 {
  uint64_t low;
  uint64_t high;
};

template <typename Word>
bool EqualTwoWords(const char* a, const char* b, size_t size) {
  const size_t last = size - sizeof(Word);
  return ((LoadWord<Word>(a) ^ LoadWord<Word>(b)) |
          (LoadWord<Word>(a + last) ^ LoadWord<Word>(b + last))) == 0;
}

inline void CopyBytes(std::string_view from, char* to) {
  const size_t size = from.size();
  if (size > 32) {
    std::memcpy(to, from.data(), size);
  } else if (size >= 16) {
    CopyTwoWords<Word128>(from.data(), size, to);
  } else if (size >= 8) {
    CopyTwoWords<uint64_t>(from.data(), size, to);
  } else if (size >= 4) {
    CopyTwoWords<uint32_t>(from.data(), size, to);
  } else if (size >= 2) {
    CopyTwoWords<uint16_t>(from.data(), size, to);
  } else if (size == 1) {
    *to = from[0];
  }
}

// Like CopyBytes, but sizes up to 16 need not be predicted: it may write 16 bytes in any case, and
// may read them if as many are `readable`.
inline void CopyBytesWide(std::string_view from, size_t readable, char* to) {
  if (from.size() <= sizeof(Word128) && readable >= sizeof(Word128)) {
    std::memcpy(to, from.data(), sizeof(Word128));
  } else {
    CopyBytes(from, to);
  }
}

inline bool EqualBytes(std::string_view a, std::string_view b) {
  const size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size >= 8) return EqualTwoWords<uint64_t>(a.data(), b.data(), size);
  if (size >= 4) return EqualTwoWords<uint32_t>(a.data(), b.data(), size);
  if (size >= 2) return EqualTwoWords<uint16_t>(a.data(), b.data(), size);
  return size == 0 || a[0] == b[0];
}

// Multiply and fold, a word at a time; the last word may overlap the one before it.
inline uint64_t HashBytes(std::string_view bytes) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  const size_t size = bytes.size();
  uint64_t hash = size * kMultiplier;
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  };
  const char* const data = bytes.data();
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

}  // namespace tfrecord_beam
