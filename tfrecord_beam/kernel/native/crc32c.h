// CRC32C (Castagnoli polynomial, RFC 3720 appendix B.4) and its masked form stored in TFRecord.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tfrecord_beam {

// The CRC of the bytes, continued from `crc`. Uses the CPU's instruction if there is one.
uint32_t Crc32c(const uint8_t* data, size_t size, uint32_t crc = 0);

// The same using only tables; exposed so that tests can compare the two on one machine.
uint32_t Crc32cPortable(const uint8_t* data, size_t size, uint32_t crc = 0);

// TensorFlow, core/lib/hash/crc32c.h: a CRC of data that holds CRCs is weak, so it is stored
// rotated.
inline uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace tfrecord_beam
