#include "framing.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "crc32c.h"
#include "short_bytes.h"

namespace tfrecord_beam {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

template <typename T>
uint8_t* Store(T value, uint8_t* out) {
  std::memcpy(out, &value, sizeof(value));
  return out + sizeof(value);
}

// The largest payload length whose frame size fits into an int64.
constexpr auto kMostLength = static_cast<uint64_t>(kLargest - kHeaderSize - kFooterSize);

// The size of the frame whose header is at `data`, at most the largest int64.
int64_t FrameSize(const uint8_t* data) {
  const uint64_t length = LoadWord<uint64_t>(data);
  return length > kMostLength ? kLargest : static_cast<int64_t>(length) + kHeaderSize + kFooterSize;
}

struct CrcCheck {
  uint32_t stored;
  uint32_t computed;
  bool ok() const { return stored == computed; }
};

CrcCheck CheckLength(const uint8_t* frame) {
  return {LoadWord<uint32_t>(frame + 8), MaskCrc(Crc32c(frame, 8))};
}

CrcCheck CheckPayload(const uint8_t* frame, int64_t frame_size) {
  const int64_t length = frame_size - kHeaderSize - kFooterSize;
  return {LoadWord<uint32_t>(frame + kHeaderSize + length),
          MaskCrc(Crc32c(frame + kHeaderSize, static_cast<size_t>(length)))};
}

}  // namespace

ScanResult Scan(const uint8_t* data, int64_t size, const ScanBounds& bounds) {
  ScanResult result;
  int64_t position = bounds.start;
  const auto finish = [&](ScanStatus status, int64_t needed = 0, CrcCheck crc = {0, 0}) {
    result.end = position;
    result.status = status;
    result.needed = needed;
    result.stored = crc.stored;
    result.computed = crc.computed;
    return std::move(result);
  };
  while (true) {
    if (position >= bounds.stop) return finish(ScanStatus::kLimit);
    if (static_cast<int64_t>(result.offsets.size()) >= bounds.max_records) {
      return finish(ScanStatus::kLimit);
    }
    const int64_t available = size - position;
    if (available < kHeaderSize) return finish(ScanStatus::kMore, kHeaderSize);
    const uint8_t* const frame = data + position;
    if (bounds.validate_crc || LoadWord<uint64_t>(frame) == 0) {
      const CrcCheck crc = CheckLength(frame);
      if (!crc.ok()) return finish(ScanStatus::kBadLengthCrc, 0, crc);
    }
    const int64_t frame_size = FrameSize(frame);
    const auto together =
        static_cast<uint64_t>(position - bounds.start) + static_cast<uint64_t>(frame_size);
    if (!result.offsets.empty() && together > bounds.max_bytes) return finish(ScanStatus::kLimit);
    if (frame_size > available) return finish(ScanStatus::kMore, frame_size);
    if (bounds.validate_crc) {
      const CrcCheck crc = CheckPayload(frame, frame_size);
      if (!crc.ok()) return finish(ScanStatus::kBadPayloadCrc, frame_size, crc);
    }
    result.offsets.push_back(position + kHeaderSize);
    result.lengths.push_back(frame_size - kHeaderSize - kFooterSize);
    position += frame_size;
  }
}

CandidateResult FindRecord(const uint8_t* data, int64_t size, int64_t start, int64_t stop,
                           int64_t limit) {
  for (int64_t position = start; position < stop; ++position) {
    if (size - position < kHeaderSize) return {position, false, 0};
    const uint8_t* const frame = data + position;
    if (!CheckLength(frame).ok()) continue;
    const int64_t frame_size = FrameSize(frame);
    // The first condition: FrameSize has limited a size that does not fit into an int64.
    if (LoadWord<uint64_t>(frame) > kMostLength || frame_size > limit - position) continue;
    if (frame_size > size - position) return {position, true, frame_size};
    if (CheckPayload(frame, frame_size).ok()) return {position, true, 0};
  }
  return {stop, false, 0};
}

uint8_t* SealFrame(uint8_t* payload, size_t size) {
  uint8_t* const header = payload - kHeaderSize;
  uint8_t* const crc = Store(static_cast<uint64_t>(size), header);
  Store(MaskCrc(Crc32c(header, 8)), crc);
  return Store(MaskCrc(Crc32c(payload, size)), payload + size);
}

uint8_t* WriteFrame(std::string_view payload, uint8_t* out) {
  out += kHeaderSize;
  if (!payload.empty()) std::memcpy(out, payload.data(), payload.size());
  return SealFrame(out, payload.size());
}

}  // namespace tfrecord_beam
