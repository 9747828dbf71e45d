// Writing the protobuf wire format: sizes first, then bytes into memory of exactly that size.
// https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "short_bytes.h"
#include "wire.h"

namespace tfrecord_beam {

// The size of `value` as a varint, each byte of which holds seven bits.
inline int64_t VarintSize(uint64_t value) {
#if defined(__GNUC__)
  const int64_t bits = 64 - __builtin_clzll(value | 1);
  return (bits * 9 + 64) / 64;  // the same as (bits + 6) / 7, without a division
#else
  int64_t size = 1;
  while (value >>= 7) ++size;
  return size;
#endif
}

// The size of a length-delimited field with a one-byte tag.
inline int64_t FieldSize(int64_t content_size) {
  return 1 + VarintSize(static_cast<uint64_t>(content_size)) + content_size;
}

inline uint8_t* WriteVarint(uint64_t value, uint8_t* out) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}

// Begins a length-delimited field.
inline uint8_t* WriteHeader(uint32_t field, int64_t content_size, uint8_t* out) {
  *out++ = LengthTag(field);
  return WriteVarint(static_cast<uint64_t>(content_size), out);
}

inline uint8_t* WriteBytes(std::string_view bytes, uint8_t* out) {
  CopyBytes(bytes, reinterpret_cast<char*>(out));
  return out + bytes.size();
}

}  // namespace tfrecord_beam
