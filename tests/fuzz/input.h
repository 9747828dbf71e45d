// What the fuzz targets are made of: the input as parameters and records, and checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

// Ends the process where the kernel breaks a promise; the fuzzer then keeps the input.
#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

namespace tfrecord_beam {

// Bytes in a heap block of exactly their size, so that AddressSanitizer sees any read beyond them.
class ExactBytes {
 public:
  explicit ExactBytes(std::string_view bytes) : size_(bytes.size()) {
    if (size_ == 0) return;  // empty, as a Python buffer may be: without an address
    data_ = std::make_unique<uint8_t[]>(size_);
    std::memcpy(data_.get(), bytes.data(), size_);
  }

  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }
  int64_t size() const { return static_cast<int64_t>(size_); }
  std::string_view view() const { return {reinterpret_cast<const char*>(data_.get()), size_}; }

 private:
  size_t size_;
  std::unique_ptr<uint8_t[]> data_;
};

// Stands between the records of an input, so that a change within one leaves the others alone.
constexpr std::string_view kSeparator = "\xc0\xc1\xc0\xc1";

// The input, taken from its front. make_corpus.py writes such inputs.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : left_(reinterpret_cast<const char*>(data), size) {}

  // The next little-endian number; missing bytes are zero.
  template <typename T>
  T Take() {
    T value = 0;
    const size_t size = left_.size() < sizeof(T) ? left_.size() : sizeof(T);
    if (size != 0) std::memcpy(&value, left_.data(), size);
    left_.remove_prefix(size);
    return value;
  }

  std::vector<ExactBytes> TakeRecords() {
    std::vector<ExactBytes> records;
    if (left_.empty()) return records;
    size_t end;
    do {
      end = left_.find(kSeparator);
      records.emplace_back(left_.substr(0, end));
      left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + kSeparator.size());
    } while (end != std::string_view::npos);
    return records;
  }

 private:
  std::string_view left_;
};

void FuzzFraming(Input input);
void FuzzDecode(Input input);
void FuzzEncode(Input input);

}  // namespace tfrecord_beam
