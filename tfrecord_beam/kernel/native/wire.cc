#include "wire.h"

#include "short_bytes.h"

namespace tfrecord_beam {

namespace {

// Whether all bytes are below 0x80, a word at a time; the last word may overlap the one before it.
bool IsAscii(std::string_view bytes) {
  const size_t size = bytes.size();
  const char* const data = bytes.data();
  uint64_t high = 0;
  if (size >= 8) {
    for (size_t at = 0; at + 8 < size; at += 8) high |= LoadWord<uint64_t>(data + at);
    high |= LoadWord<uint64_t>(data + size - 8);
  } else if (size >= 4) {
    high = LoadWord<uint32_t>(data) | LoadWord<uint32_t>(data + size - 4);
  } else {
    for (const char byte : bytes) high |= static_cast<uint8_t>(byte);
  }
  return (high & 0x8080808080808080u) == 0;
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  if (IsAscii(bytes)) return true;
  const auto* position = reinterpret_cast<const uint8_t*>(bytes.data());
  const uint8_t* const end = position + bytes.size();
  while (position < end) {
    const uint8_t lead = *position++;
    if (lead < 0x80) continue;
    int more;
    uint32_t smallest;
    uint32_t code;
    if ((lead & 0xe0) == 0xc0) {
      more = 1, smallest = 0x80, code = lead & 0x1fu;
    } else if ((lead & 0xf0) == 0xe0) {
      more = 2, smallest = 0x800, code = lead & 0x0fu;
    } else if ((lead & 0xf8) == 0xf0) {
      more = 3, smallest = 0x10000, code = lead & 0x07u;
    } else {
      return false;
    }
    if (end - position < more) return false;
    for (; more > 0; --more) {
      const uint8_t byte = *position++;
      if ((byte & 0xc0) != 0x80) return false;
      code = code << 6 | (byte & 0x3fu);
    }
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < smallest || code > 0x10ffff || surrogate) return false;
  }
  return true;
}

}  // namespace tfrecord_beam
