#include "crc32c.h"

#include <array>

#include "short_bytes.h"

#if (defined(__x86_64__) || defined(_M_X64)) && !defined(_MSC_VER)
#define TFRECORD_BEAM_CRC_X86 1
#include <immintrin.h>
#elif defined(__aarch64__) && !defined(_MSC_VER)
#define TFRECORD_BEAM_CRC_ARM 1
#if defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#endif

namespace tfrecord_beam {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78u;  // Castagnoli, bits reversed

using Table = std::array<uint32_t, 256>;

// kSlices[k][b] is the CRC register after byte b and k zero bytes.
constexpr std::array<Table, 8> MakeSlices() {
  std::array<Table, 8> slices{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    slices[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = slices[k - 1][byte];
      slices[k][byte] = (crc >> 8) ^ slices[0][crc & 0xff];
    }
  }
  return slices;
}

constexpr std::array<Table, 8> kSlices = MakeSlices();

#if defined(TFRECORD_BEAM_CRC_X86) || defined(TFRECORD_BEAM_CRC_ARM)

// The instruction has a latency of 3 cycles and a throughput of one per cycle, so three lanes of
// equal length run in parallel. To join them, the register of a lane is shifted over the bytes of
// the next: a linear map of its bits, looked up byte by byte.
class LaneShift {
 public:
  explicit LaneShift(size_t bytes) {
    std::array<uint32_t, 32> columns{};
    for (size_t bit = 0; bit < 32; ++bit) {
      uint32_t crc = 1u << bit;
      for (size_t i = 0; i < bytes; ++i) crc = (crc >> 8) ^ kSlices[0][crc & 0xff];
      columns[bit] = crc;
    }
    for (size_t position = 0; position < 4; ++position) {
      for (size_t byte = 0; byte < 256; ++byte) {
        uint32_t crc = 0;
        for (size_t bit = 0; bit < 8; ++bit) {
          if ((byte >> bit & 1) != 0) crc ^= columns[position * 8 + bit];
        }
        tables_[position][byte] = crc;
      }
    }
  }

  uint32_t operator()(uint32_t crc) const {
    return tables_[0][crc & 0xff] ^ tables_[1][crc >> 8 & 0xff] ^ tables_[2][crc >> 16 & 0xff] ^
           tables_[3][crc >> 24];
  }

 private:
  std::array<Table, 4> tables_;
};

// Lane lengths in bytes: the long one for images, the short one for records of a few hundred bytes,
// and one for records of a few thousand, which take two thirds of the time with it.
constexpr size_t kLongLane = 2048;
constexpr size_t kMiddleLane = 320;
constexpr size_t kShortLane = 64;

#if defined(TFRECORD_BEAM_CRC_X86)
#define TFRECORD_BEAM_CRC_TARGET __attribute__((target("sse4.2")))
TFRECORD_BEAM_CRC_TARGET inline uint32_t StepWord(uint32_t crc, uint64_t word) {
  return static_cast<uint32_t>(_mm_crc32_u64(crc, word));
}
TFRECORD_BEAM_CRC_TARGET inline uint32_t StepByte(uint32_t crc, uint8_t byte) {
  return _mm_crc32_u8(crc, byte);
}
#else
// GCC and clang differ in the names of the builtins and of the target that enables them.
#if defined(__clang__)
#define TFRECORD_BEAM_CRC_TARGET __attribute__((target("crc")))
#define TFRECORD_BEAM_CRC_WORD __builtin_arm_crc32cd
#define TFRECORD_BEAM_CRC_BYTE __builtin_arm_crc32cb
#else
#define TFRECORD_BEAM_CRC_TARGET __attribute__((target("+crc")))
#define TFRECORD_BEAM_CRC_WORD __builtin_aarch64_crc32cx
#define TFRECORD_BEAM_CRC_BYTE __builtin_aarch64_crc32cb
#endif
TFRECORD_BEAM_CRC_TARGET inline uint32_t StepWord(uint32_t crc, uint64_t word) {
  return TFRECORD_BEAM_CRC_WORD(crc, word);
}
TFRECORD_BEAM_CRC_TARGET inline uint32_t StepByte(uint32_t crc, uint8_t byte) {
  return TFRECORD_BEAM_CRC_BYTE(crc, byte);
}
#endif

TFRECORD_BEAM_CRC_TARGET const uint8_t* StepLanes(const uint8_t* data, const uint8_t* end,
                                                  size_t lane, const LaneShift& shift,
                                                  uint32_t* crc) {
  uint32_t first = *crc;
  while (static_cast<size_t>(end - data) >= 3 * lane) {
    uint32_t second = 0;
    uint32_t third = 0;
    for (size_t i = 0; i < lane; i += 8) {
      first = StepWord(first, LoadWord<uint64_t>(data + i));
      second = StepWord(second, LoadWord<uint64_t>(data + lane + i));
      third = StepWord(third, LoadWord<uint64_t>(data + 2 * lane + i));
    }
    first = shift(shift(first) ^ second) ^ third;
    data += 3 * lane;
  }
  *crc = first;
  return data;
}

TFRECORD_BEAM_CRC_TARGET uint32_t Crc32cInstruction(const uint8_t* data, size_t size,
                                                    uint32_t crc) {
  const uint8_t* const end = data + size;
  crc = ~crc;
  if (size >= 3 * kLongLane) {
    static const LaneShift shift(kLongLane);
    data = StepLanes(data, end, kLongLane, shift, &crc);
  }
  if (size >= 3 * kMiddleLane) {
    static const LaneShift shift(kMiddleLane);
    data = StepLanes(data, end, kMiddleLane, shift, &crc);
  }
  if (size >= 3 * kShortLane) {
    static const LaneShift shift(kShortLane);
    data = StepLanes(data, end, kShortLane, shift, &crc);
  }
  for (; end - data >= 8; data += 8) crc = StepWord(crc, LoadWord<uint64_t>(data));
  for (; data < end; ++data) crc = StepByte(crc, *data);
  return ~crc;
}

#if defined(TFRECORD_BEAM_CRC_X86)

// Carry-less products of 64 bytes at a time take a quarter of the time: "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction" (Gopal et al., 2009). A block is folded into a
// later one: it is multiplied by the power of x for the distance between them, and added. The block
// that is left in the end has the same CRC as all of the data.
#define TFRECORD_BEAM_CRC_PRODUCTS_TARGET __attribute__((target("sse4.2,avx512f,vpclmulqdq")))

constexpr size_t kBlock = sizeof(__m512i);
constexpr size_t kBlocks = 4;  // independent of each other, since a product takes several cycles

// x to the power of `exponent` modulo the polynomial, as a factor of products of reversed bits.
constexpr int64_t PowerOfX(size_t exponent) {
  uint32_t power = 0x80000000u;
  for (size_t i = 0; i < exponent; ++i) power = (power >> 1) ^ ((power & 1) != 0 ? kPolynomial : 0);
  return static_cast<int64_t>(power) << 1;
}

// The factors for a distance in bytes: of the first and of the second half of 16 bytes.
template <size_t kDistance>
TFRECORD_BEAM_CRC_PRODUCTS_TARGET inline __m512i Factors() {
  constexpr int64_t kFirst = PowerOfX(8 * kDistance + 32);
  constexpr int64_t kSecond = PowerOfX(8 * kDistance - 32);
  return _mm512_set_epi64(kSecond, kFirst, kSecond, kFirst, kSecond, kFirst, kSecond, kFirst);
}

TFRECORD_BEAM_CRC_PRODUCTS_TARGET inline __m512i Fold(__m512i block, __m512i factors,
                                                      __m512i into) {
  const __m512i first = _mm512_clmulepi64_epi128(block, factors, 0x00);
  const __m512i second = _mm512_clmulepi64_epi128(block, factors, 0x11);
  return _mm512_xor_si512(_mm512_xor_si512(first, second), into);
}

TFRECORD_BEAM_CRC_PRODUCTS_TARGET uint32_t Crc32cProducts(const uint8_t* data, size_t size,
                                                          uint32_t crc) {
  if (size < kBlocks * kBlock) return Crc32cInstruction(data, size, crc);
  const uint8_t* const end = data + size;
  __m512i blocks[kBlocks];
  for (__m512i& block : blocks) {
    block = _mm512_loadu_si512(data);
    data += kBlock;
  }
  const __m128i start = _mm_cvtsi32_si128(static_cast<int>(~crc));
  blocks[0] = _mm512_xor_si512(blocks[0], _mm512_zextsi128_si512(start));
  const __m512i far = Factors<kBlocks * kBlock>();
  while (static_cast<size_t>(end - data) >= kBlocks * kBlock) {
    for (__m512i& block : blocks) {
      block = Fold(block, far, _mm512_loadu_si512(data));
      data += kBlock;
    }
  }
  const __m512i near = Factors<kBlock>();
  __m512i last = blocks[0];
  for (size_t i = 1; i < kBlocks; ++i) last = Fold(last, near, blocks[i]);
  for (; static_cast<size_t>(end - data) >= kBlock; data += kBlock) {
    last = Fold(last, near, _mm512_loadu_si512(data));
  }
  uint8_t left[kBlock];
  _mm512_storeu_si512(left, last);
  crc = Crc32cInstruction(left, kBlock, ~0u);  // continued from a register of zero
  return Crc32cInstruction(data, static_cast<size_t>(end - data), crc);
}

bool HasWideProducts() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
}

#endif  // x86

bool HasInstruction() {
#if defined(TFRECORD_BEAM_CRC_X86)
  return __builtin_cpu_supports("sse4.2") != 0;
#elif defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
  return true;  // every 64-bit Apple CPU has it
#endif
}

#endif  // x86 or Arm

uint32_t Crc32cPortable(const uint8_t* data, size_t size, uint32_t crc) {
  const uint8_t* const end = data + size;
  crc = ~crc;
  for (; end - data >= 8; data += 8) {
    const uint64_t word = LoadWord<uint64_t>(data) ^ crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kSlices[7 - k][word >> (8 * k) & 0xff];
  }
  for (; data < end; ++data) crc = (crc >> 8) ^ kSlices[0][(crc ^ *data) & 0xff];
  return ~crc;
}

}  // namespace

std::vector<CrcVariant> CrcVariants() {
  std::vector<CrcVariant> variants;
#if defined(TFRECORD_BEAM_CRC_X86)
  if (HasWideProducts()) variants.push_back({"products", Crc32cProducts});
#endif
#if defined(TFRECORD_BEAM_CRC_X86) || defined(TFRECORD_BEAM_CRC_ARM)
  if (HasInstruction()) variants.push_back({"instruction", Crc32cInstruction});
#endif
  variants.push_back({"portable", Crc32cPortable});
  return variants;
}

uint32_t Crc32c(const uint8_t* data, size_t size, uint32_t crc) {
  static const auto function = CrcVariants().front().function;
  return function(data, size, crc);
}

}  // namespace tfrecord_beam
