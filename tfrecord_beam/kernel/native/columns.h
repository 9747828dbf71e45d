// Growable buffers and the Arrow arrays that are built from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow_abi.h"
#include "block_cache.h"
#include "short_bytes.h"

namespace tfrecord_beam {

// Growable, uninitialized bytes.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(BlockUse use) { block_.use = use; }
  Buffer(Buffer&& other) noexcept
      : block_(std::exchange(other.block_, {})), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() { FreeBlock(block_); }

  uint8_t* data() { return static_cast<uint8_t*>(block_.data); }
  const uint8_t* data() const { return static_cast<const uint8_t*>(block_.data); }
  size_t size() const { return size_; }

  template <typename T>
  T* as() {
    return static_cast<T*>(block_.data);
  }

  template <typename T>
  const T* as() const {
    return static_cast<const T*>(block_.data);
  }

  size_t room() const { return block_.capacity - size_; }
  uint8_t* end() { return data() + size_; }

  // Makes room for `more` bytes after the end and returns the end.
  uint8_t* Reserve(size_t more) {
    if (room() < more) Grow(more);
    return end();
  }

  // Makes room for `count` uninitialized values in an empty buffer.
  template <typename T>
  T* Allocate(int64_t count) {
    const size_t size = static_cast<size_t>(count) * sizeof(T);
    Reserve(size == 0 ? 1 : size);
    size_ = size;
    return as<T>();
  }

  void Advance(size_t bytes) { size_ += bytes; }
  void Truncate(size_t size) { size_ = size; }

  void Append(std::string_view bytes) {
    CopyBytes(bytes, reinterpret_cast<char*>(Reserve(bytes.size())));
    size_ += bytes.size();
  }

  template <typename T>
  void AppendValue(T value) {
    std::memcpy(Reserve(sizeof(value)), &value, sizeof(value));
    size_ += sizeof(value);
  }

 private:
  void Grow(size_t more) {
    const size_t wanted = size_ + more;
    const size_t twice = 2 * block_.capacity;
    const Block block = AllocateBlock(wanted > twice ? wanted : twice, block_.use);
    if (size_ != 0) std::memcpy(block.data, block_.data, size_);
    FreeBlock(std::exchange(block_, block));
  }

  Block block_;
  size_t size_ = 0;
};

// One node of finished Arrow data; `format` is the C Data Interface's type string.
struct Array {
  std::string name;
  std::string format;
  int64_t length = 0;
  int64_t null_count = 0;
  std::vector<Buffer> buffers;  // the bitmap first, empty if there are no nulls
  std::vector<Array> children;
};

// Fills `schema` with the type of `array`; it owns all its memory.
void ExportSchema(const Array& array, ArrowSchema* schema);

// Fills `out` with `root`'s data without a copy: every node of it keeps `root` alive until it is
// released, so an array may be exported more than once and its children moved out.
void ExportArray(const std::shared_ptr<const Array>& root, ArrowArray* out);

}  // namespace tfrecord_beam
