// Frames of a TFRecord file: uint64 length, uint32 masked CRC of it, payload, uint32 masked CRC of
// that. All positions are indexes into the buffer given. See _native.pyi for the exact rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tfrecord_beam {

constexpr int64_t kHeaderSize = 12;
constexpr int64_t kFooterSize = 4;

// Larger records are not written: the protobuf library cannot read them.
constexpr int64_t kMaxRecordSize = std::numeric_limits<int32_t>::max();

struct ScanBounds {
  int64_t start;
  int64_t stop;  // frames that start here or later are left out
  int64_t max_records;
  uint64_t max_bytes;
  bool validate_crc;
};

enum class ScanStatus { kLimit = 0, kMore = 1, kBadLengthCrc = 2, kBadPayloadCrc = 3 };

struct ScanResult {
  std::vector<int64_t> offsets;
  std::vector<int64_t> lengths;
  int64_t end = 0;
  ScanStatus status = ScanStatus::kLimit;
  int64_t needed = 0;
  uint32_t stored = 0;
  uint32_t computed = 0;
};

ScanResult Scan(const uint8_t* data, int64_t size, const ScanBounds& bounds);

struct CandidateResult {
  int64_t position;
  bool found;
  int64_t needed;
};

CandidateResult FindRecord(const uint8_t* data, int64_t size, int64_t start, int64_t stop,
                           int64_t limit);

// Writes the header and the footer around a payload that is already in place; returns the end of
// the frame.
uint8_t* SealFrame(uint8_t* payload, size_t size);

// Writes one frame at `out`, which has room for the payload and 16 bytes; returns its end.
uint8_t* WriteFrame(std::string_view payload, uint8_t* out);

}  // namespace tfrecord_beam
