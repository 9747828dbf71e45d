// The protobuf wire format: the only code that reads the bytes of a record. Every read is checked
// against the end of the message; after a failed read the cursor is unusable.
// https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "short_bytes.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The kernel reads little-endian numbers by memcpy; a big-endian machine needs the reference."
#endif

namespace tfrecord_beam {

enum class WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLength = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

constexpr uint8_t LengthTag(uint32_t field) {
  return static_cast<uint8_t>(field << 3 | static_cast<uint32_t>(WireType::kLength));
}

// The protobuf library's limit on the nesting of groups and messages.
constexpr int kMaxDepth = 100;

struct ShortEntry;

class Cursor {
 public:
  Cursor() = default;
  Cursor(const uint8_t* begin, const uint8_t* end) : position_(begin), end_(end) {}
  explicit Cursor(std::string_view bytes)
      : Cursor(reinterpret_cast<const uint8_t*>(bytes.data()),
               reinterpret_cast<const uint8_t*>(bytes.data()) + bytes.size()) {}

  bool done() const { return position_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - position_); }
  const uint8_t* position() const { return position_; }

  // The first `most` bytes of the rest, or all of it if it is shorter.
  Cursor First(size_t most) const { return {position_, position_ + std::min(most, left())}; }

  // Moves to the position of another cursor of the same message.
  void GoTo(const Cursor& other) { position_ = other.position_; }

  std::string_view bytes() const { return {reinterpret_cast<const char*>(position_), left()}; }

  // If the next field is length-delimited and has this one-byte tag, reads it and moves past it;
  // otherwise the cursor does not move. This is the fast path for nearly all fields: always
  // inlined, so that the cursor stays in registers.
  [[gnu::always_inline]] bool TakeField(uint8_t tag, Cursor* content) {
    const size_t size = left();
    if (size < 2 || position_[0] != tag) return false;
    const size_t length = position_[1];
    if (length >= 0x80) {
      *content = FindLongContent(position_ + 1, end_);
      if (content->position_ == nullptr) return false;
    } else if (length > size - 2) {
      return false;
    } else {
      *content = Cursor(position_ + 2, position_ + 2 + length);
    }
    position_ = content->end_;
    return true;
  }

  // If the next field is a field 1 that holds only a field of this one-byte tag, both shorter than
  // 128 bytes, reads the inner one and moves past both; otherwise the cursor does not move.
  bool TakeShortField(uint8_t inner_tag, Cursor* content) {
    constexpr size_t kInnerHead = 2;  // a tag and a length
    const uint8_t* const at = position_;
    const size_t size = left();
    if (size < 2 + kInnerHead || at[0] != LengthTag(1) || at[2] != inner_tag) return false;
    const size_t length = at[1];
    if (length >= 0x80 || length > size - 2 || at[3] + kInnerHead != length) return false;
    *content = Cursor(at + 4, at + 2 + length);
    position_ = at + 2 + length;
    return true;
  }

  // Like TakeShortField, if the inner field holds only a field 1: returns the content of that.
  bool TakeShortPacked(uint8_t inner_tag, Cursor* content) {
    constexpr size_t kHeads = 6;  // tag and length of all three
    const uint8_t* const at = position_;
    const size_t size = left();
    if (size < kHeads || at[0] != LengthTag(1) || at[2] != inner_tag || at[4] != LengthTag(1)) {
      return false;
    }
    const size_t length = at[1];
    if (length >= 0x80 || length > size - 2 || at[3] + size_t{2} != length ||
        at[5] + size_t{4} != length) {
      return false;
    }
    *content = Cursor(at + kHeads, at + 2 + length);
    position_ = at + 2 + length;
    return true;
  }

  // If the next field is a map entry in the usual form (see ShortEntry), reads it and moves past
  // it; otherwise the cursor does not move.
  bool TakeShortEntry(ShortEntry* entry);

  // At most 10 bytes; bits beyond the 64th are dropped, as protobuf does.
  bool ReadVarint(uint64_t* value) {
    if (position_ != end_ && *position_ < 0x80) {
      *value = *position_++;
      return true;
    }
    return ReadLongVarint(10, value);
  }

  bool ReadTag(uint32_t* field, WireType* type) {
    uint64_t tag;
    if (position_ != end_ && *position_ < 0x80) {
      tag = *position_++;
    } else if (!ReadLongVarint(5, &tag) || tag > UINT32_MAX) {
      return false;
    }
    *field = static_cast<uint32_t>(tag) >> 3;
    *type = static_cast<WireType>(tag & 7);
    return *field != 0;
  }

  bool ReadBytes(std::string_view* bytes) {
    uint64_t size;
    if (!ReadVarint(&size) || size > INT32_MAX || size > left()) return false;
    *bytes = {reinterpret_cast<const char*>(position_), static_cast<size_t>(size)};
    position_ += size;
    return true;
  }

  bool ReadMessage(Cursor* message) {
    std::string_view bytes;
    if (!ReadBytes(&bytes)) return false;
    *message = Cursor(bytes);
    return true;
  }

  bool ReadFixed32(std::string_view* little_endian) {
    if (left() < 4) return false;
    *little_endian = {reinterpret_cast<const char*>(position_), 4};
    position_ += 4;
    return true;
  }

  // Moves past the value of a field whose tag has been read. `depth`: how many messages enclose it.
  bool SkipValue(uint32_t field, WireType type, int depth) {
    uint64_t number;
    std::string_view bytes;
    switch (type) {
      case WireType::kVarint:
        return ReadVarint(&number);
      case WireType::kFixed64:
        return SkipBytes(8);
      case WireType::kLength:
        return ReadBytes(&bytes);
      case WireType::kStartGroup:
        return SkipGroup(field, depth + 1);
      case WireType::kFixed32:
        return SkipBytes(4);
      case WireType::kEndGroup:
        break;
    }
    return false;  // an unmatched end of a group, or an unknown type
  }

 private:
  bool SkipBytes(size_t size) {
    if (left() < size) return false;
    position_ += size;
    return true;
  }

  bool SkipGroup(uint32_t field, int depth) {
    if (depth > kMaxDepth) return false;
    while (true) {
      uint32_t inner;
      WireType type;
      if (!ReadTag(&inner, &type)) return false;
      if (type == WireType::kEndGroup) return inner == field;
      if (!SkipValue(inner, type, depth)) return false;
    }
  }

  // The content after a length; null if it is truncated. Takes pointers and not the address of a
  // cursor, so that the cursor can stay in registers.
  [[gnu::noinline]] static Cursor FindLongContent(const uint8_t* at, const uint8_t* end) {
    Cursor content;
    return Cursor(at, end).ReadMessage(&content) ? content : Cursor();
  }

  bool ReadLongVarint(int max_bytes, uint64_t* value) {
    uint64_t result = 0;
    for (int i = 0; i < max_bytes && position_ != end_; ++i) {
      const uint64_t byte = *position_++;
      result |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        *value = result;
        return true;
      }
    }
    return false;
  }

  const uint8_t* position_ = nullptr;
  const uint8_t* end_ = nullptr;
};

// A map entry, in a field 1, that holds a name and a Feature of one list, in this order, in less
// than 128 bytes: nearly all features of nearly all files. Every length takes one byte, and the
// entry, the Feature and the list end at the same place:
//
//   0a ENTRY 0a NAME ...name... 12 FEATURE KIND LIST ...list...
struct ShortEntry {
  std::string_view name;
  uint32_t kind = 0;  // the field number of the list in the Feature
  Cursor list;
};

inline bool Cursor::TakeShortEntry(ShortEntry* entry) {
  constexpr size_t kLengths = 6;  // the tags and lengths inside the entry
  const uint8_t* const at = position_;
  const size_t size = left();
  if (size < 2 + kLengths || at[0] != LengthTag(1) || at[2] != LengthTag(1)) return false;
  const size_t entry_size = at[1];
  const size_t name_size = at[3];
  if (entry_size >= 0x80 || entry_size > size - 2 || name_size + kLengths > entry_size)
    return false;
  const uint8_t* const end = at + 2 + entry_size;
  const uint8_t* const feature = at + 4 + name_size;
  const size_t list_size = entry_size - kLengths - name_size;
  const uint32_t kind = feature[2] >> 3;
  if (feature[0] != LengthTag(2) || feature[1] != list_size + 2 || feature[3] != list_size ||
      feature[2] != LengthTag(kind) || kind < 1 || kind > 3) {
    return false;
  }
  entry->name = {reinterpret_cast<const char*>(at + 4), name_size};
  entry->kind = kind;
  entry->list = Cursor(feature + 4, end);
  position_ = end;
  return true;
}

// An upper bound on the number of packed varints, exact for long runs.
inline size_t CountVarints(std::string_view packed) {
  constexpr size_t kFew = 64;  // below, counting would cost more than the memory it saves
  if (packed.size() <= kFew) return packed.size();
  size_t count = 0;
  for (const char byte : packed) count += static_cast<uint8_t>(byte) < 0x80;
  return count;
}

// Decodes packed varints to `*out` and moves it to the end of what was written. With kStore false
// they are only checked. Does not rely on anything read earlier, not even on CountVarints: another
// thread may modify the buffer meanwhile.
template <bool kStore>
bool DecodeVarints(std::string_view packed, const uint64_t* room_end, uint64_t** out) {
  const auto* position = reinterpret_cast<const uint8_t*>(packed.data());
  const uint8_t* const end = position + packed.size();
  uint64_t* write = *out;
  while (position != end) {
    uint64_t value = *position++;
    if (value >= 0x80) {
      value &= 0x7f;
      uint64_t byte;
      int shift = 7;
      do {
        if (position == end || shift > 63) return false;  // truncated, or more than 10 bytes
        byte = *position++;
        value |= (byte & 0x7f) << shift;
        shift += 7;
      } while (byte >= 0x80);
    }
    if constexpr (kStore) {
      if (write == room_end) return false;
      *write++ = value;
    }
  }
  *out = write;
  return true;
}

// The low seven bits of each byte, put together.
inline uint64_t JoinSevenBits(uint64_t bytes) {
  bytes = (bytes & 0x007f007f007f007fu) | (bytes & 0x7f007f007f007f00u) >> 1;
  bytes = (bytes & 0x00003fff00003fffu) | (bytes & 0x3fff00003fff0000u) >> 2;
  return (bytes & 0x000000000fffffffu) | (bytes & 0x0fffffff00000000u) >> 4;
}

// Decodes packed varints of 2 to 8 bytes in all that follow at least six bytes of the same buffer.
// Does not branch on the length of each varint, which often cannot be predicted. False: the size is
// another one, or the last varint does not end there; then `*out` does not move.
inline bool DecodeFewVarints(std::string_view packed, uint64_t** out) {
  auto left = static_cast<int64_t>(packed.size());
  if (left < 2 || left > 8) return false;
  uint64_t word = LoadWord<uint64_t>(packed.data() + left - 8) >> 8 * (8 - left);
  uint64_t* write = *out;
  do {
    const uint64_t last_bytes = ~word & 0x8080808080808080u;
    if (last_bytes == 0) return false;
    *write++ = JoinSevenBits(word & (last_bytes ^ (last_bytes - 1)));
    const int last_bit = __builtin_ctzll(last_bytes);
    word = word >> last_bit >> 1;
    left -= (last_bit + 1) / 8;
  } while (left > 0);
  *out = write;
  return left == 0;
}

// Whether the bytes are UTF-8: shortest forms only, no surrogates, nothing above U+10FFFF (RFC
// 3629).
bool IsUtf8(std::string_view bytes);

}  // namespace tfrecord_beam
