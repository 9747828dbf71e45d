// CRC32C (Castagnoli polynomial, RFC 3720 appendix B.4) and its masked form stored in TFRecord.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfrecord_beam {

// The CRC of the bytes, continued from `crc`, by the fastest way that this CPU has.
uint32_t Crc32c(const uint8_t* data, size_t size, uint32_t crc = 0);

struct CrcVariant {
  const char* name;
  uint32_t (*function)(const uint8_t* data, size_t size, uint32_t crc);
};

// All ways that this CPU has, the fastest first; known so that tests can compare them on one
// machine.
std::vector<CrcVariant> CrcVariants();

// TensorFlow, core/lib/hash/crc32c.h: a CRC of data that holds CRCs is weak, so it is stored
// rotated.
inline uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace tfrecord_beam
