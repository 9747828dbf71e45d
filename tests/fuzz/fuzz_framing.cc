// Frames: bytes, or the frames of records with a few bytes changed, are scanned and searched.

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "crc32c.h"
#include "framing.h"
#include "input.h"

namespace tfrecord_beam {
namespace {

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

ScanBounds AllFrom(int64_t start, bool validate_crc = true) {
  return {start, kUnbounded, kUnbounded, std::numeric_limits<uint64_t>::max(), validate_crc};
}

int64_t FrameSizeAt(const ExactBytes& file, int64_t position) {
  CHECK(file.size() - position >= kHeaderSize);
  uint64_t length;
  std::memcpy(&length, file.data() + position, sizeof(length));
  constexpr int64_t kAround = kHeaderSize + kFooterSize;
  return length > static_cast<uint64_t>(kUnbounded - kAround)
             ? kUnbounded
             : static_cast<int64_t>(length) + kAround;
}

// The CRC by the variant that every CPU has.
uint32_t PortableCrc(const uint8_t* data, size_t size) {
  static const auto function = CrcVariants().back().function;
  return function(data, size, 0);
}

// Whether the stored CRC at `position` is the one of the `size` bytes before it.
bool CrcFits(const ExactBytes& file, int64_t position, int64_t size) {
  uint32_t stored;
  std::memcpy(&stored, file.data() + position, sizeof(stored));
  const uint8_t* const begin = file.data() + position - size;
  return stored == MaskCrc(PortableCrc(begin, static_cast<size_t>(size)));
}

void CheckRecords(const ExactBytes& file, const ScanBounds& bounds, const ScanResult& result) {
  CHECK(result.offsets.size() == result.lengths.size());
  CHECK(static_cast<int64_t>(result.offsets.size()) <= bounds.max_records);
  int64_t position = bounds.start;
  for (size_t i = 0; i < result.offsets.size(); ++i) {
    CHECK(position < bounds.stop);
    const int64_t length = result.lengths[i];
    CHECK(length + kHeaderSize + kFooterSize == FrameSizeAt(file, position));
    CHECK(result.offsets[i] == position + kHeaderSize);
    if (bounds.validate_crc) {
      CHECK(CrcFits(file, position + 8, 8));
      CHECK(CrcFits(file, position + kHeaderSize + length, length));
    }
    position += kHeaderSize + length + kFooterSize;
    CHECK(position <= file.size());
    CHECK(i == 0 || static_cast<uint64_t>(position - bounds.start) <= bounds.max_bytes);
  }
  CHECK(result.end == position);
}

void CheckEnd(const ExactBytes& file, const ScanBounds& bounds, const ScanResult& result) {
  const int64_t available = file.size() - result.end;
  const bool has_header = available >= kHeaderSize;
  const auto taken = static_cast<uint64_t>(result.end - bounds.start);
  switch (result.status) {
    case ScanStatus::kLimit:
      CHECK(result.needed == 0);
      CHECK(result.end >= bounds.stop ||
            static_cast<int64_t>(result.offsets.size()) == bounds.max_records ||
            (taken != 0 && has_header &&
             taken + static_cast<uint64_t>(FrameSizeAt(file, result.end)) > bounds.max_bytes));
      break;
    case ScanStatus::kMore:
      CHECK(result.needed == (has_header ? FrameSizeAt(file, result.end) : kHeaderSize));
      CHECK(result.needed > available);
      break;
    case ScanStatus::kBadLengthCrc:
      CHECK(has_header && !CrcFits(file, result.end + 8, 8));
      // Where no CRC counts, that of a length of 0 does: else zeros would be records.
      CHECK(bounds.validate_crc || FrameSizeAt(file, result.end) == kHeaderSize + kFooterSize);
      CHECK(result.needed == 0);
      break;
    case ScanStatus::kBadPayloadCrc:
      CHECK(bounds.validate_crc && has_header);
      CHECK(result.needed == FrameSizeAt(file, result.end) && result.needed <= available);
      CHECK(!CrcFits(file, result.end + result.needed - kFooterSize,
                     result.needed - kHeaderSize - kFooterSize));
      break;
  }
  const bool bad =
      result.status == ScanStatus::kBadLengthCrc || result.status == ScanStatus::kBadPayloadCrc;
  CHECK(bad == (result.stored != result.computed));
}

ScanResult CheckedScan(const ExactBytes& file, const ScanBounds& bounds) {
  const ScanResult result = Scan(file.data(), file.size(), bounds);
  CheckRecords(file, bounds, result);
  CheckEnd(file, bounds, result);
  return result;
}

// A scan that goes on where another has ended finds what one scan finds.
void CheckResumption(const ExactBytes& file, ScanBounds bounds) {
  bounds.max_bytes = std::numeric_limits<uint64_t>::max();
  const ScanResult first = CheckedScan(file, bounds);
  bounds.max_records = kUnbounded;
  const ScanResult whole = CheckedScan(file, bounds);
  bounds.start = first.end;
  const ScanResult rest = CheckedScan(file, bounds);
  std::vector<int64_t> offsets = first.offsets;
  offsets.insert(offsets.end(), rest.offsets.begin(), rest.offsets.end());
  CHECK(offsets == whole.offsets);
  CHECK(rest.end == whole.end && rest.status == whole.status && rest.needed == whole.needed);
  CHECK(rest.stored == whole.stored && rest.computed == whole.computed);
}

// What FindRecord has to answer, told by scanning at each position.
CandidateResult SearchByScanning(const ExactBytes& file, int64_t start, int64_t stop,
                                 int64_t limit) {
  for (int64_t position = start; position < stop; ++position) {
    if (file.size() - position < kHeaderSize) return {position, false, 0};
    ScanBounds bounds = AllFrom(position);
    bounds.max_records = 1;
    const ScanResult scan = Scan(file.data(), file.size(), bounds);
    if (scan.status == ScanStatus::kBadLengthCrc) continue;
    if (FrameSizeAt(file, position) > limit - position) continue;
    if (scan.status == ScanStatus::kMore) return {position, true, scan.needed};
    if (scan.status == ScanStatus::kLimit) return {position, true, 0};
  }
  return {stop, false, 0};
}

void CheckFind(const ExactBytes& file, int64_t start, int64_t stop, int64_t limit) {
  const CandidateResult found = FindRecord(file.data(), file.size(), start, stop, limit);
  const CandidateResult expected = SearchByScanning(file, start, stop, limit);
  CHECK(found.position == expected.position);
  CHECK(found.found == expected.found);
  CHECK(found.needed == expected.needed);
}

void CheckCrc(const ExactBytes& file, int64_t split) {
  const auto size = static_cast<size_t>(file.size());
  const auto head = static_cast<size_t>(split);
  const uint32_t whole = Crc32c(file.data(), size);
  for (const CrcVariant& variant : CrcVariants()) {
    CHECK(whole == variant.function(file.data(), size, 0));
  }
  CHECK(whole == Crc32c(file.data() + head, size - head, Crc32c(file.data(), head)));
}

ExactBytes FrameAll(const std::vector<ExactBytes>& records) {
  std::string frames;
  for (const ExactBytes& record : records) {
    const size_t start = frames.size();
    frames.resize(start + record.view().size() + kHeaderSize + kFooterSize);
    auto* const out = reinterpret_cast<uint8_t*>(&frames[start]);
    CHECK(WriteFrame(record.view(), out) == out + frames.size() - start);
  }
  return ExactBytes(frames);
}

void CheckRoundTrip(const ExactBytes& file, const std::vector<ExactBytes>& records) {
  const ScanResult result = CheckedScan(file, AllFrom(0));
  CHECK(result.status == ScanStatus::kMore && result.end == file.size());
  CHECK(result.offsets.size() == records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    CHECK(file.view().substr(static_cast<size_t>(result.offsets[i]),
                             static_cast<size_t>(result.lengths[i])) == records[i].view());
  }
}

}  // namespace

void FuzzFraming(Input input) {
  const auto flags = input.Take<uint8_t>();
  const auto start_number = input.Take<uint16_t>();
  const auto stop_number = input.Take<uint16_t>();
  const auto limit_number = input.Take<uint16_t>();
  const int64_t max_records = 1 + input.Take<uint8_t>();
  const auto max_bytes_number = input.Take<uint16_t>();
  std::vector<std::pair<uint16_t, uint8_t>> changes(flags / 2 % 4);
  for (auto& [where, what] : changes) {
    where = input.Take<uint16_t>();
    what = input.Take<uint8_t>();
  }
  const std::vector<ExactBytes> records = input.TakeRecords();
  const bool framed = flags % 2 == 0;
  if (!framed && records.empty()) return;
  ExactBytes file = framed ? FrameAll(records) : ExactBytes(records[0].view());
  if (framed) CheckRoundTrip(file, records);
  for (const auto& [where, what] : changes) {
    if (file.size() != 0) file.data()[where % file.size()] ^= what;
  }
  const int64_t start = start_number % (file.size() + 1);
  const int64_t stop = stop_number % (file.size() + 32);
  for (const bool validate_crc : {true, false}) {
    ScanBounds bounds = AllFrom(start, validate_crc);
    CheckedScan(file, bounds);
    bounds.stop = stop;
    bounds.max_records = max_records;
    CheckResumption(file, bounds);
    bounds.max_bytes = static_cast<uint64_t>(max_bytes_number % (file.size() + 32));
    CheckedScan(file, bounds);
  }
  CheckFind(file, start, std::max(start, stop), limit_number % (file.size() + 64));
  CheckCrc(file, start);
}

}  // namespace tfrecord_beam
