// Memory for columns: a few freed blocks are kept for reuse, because a fresh page from the
// operating system costs as much as decoding the data that it holds.
#pragma once

#include <cstddef>

namespace tfrecord_beam {

struct Block {
  void* data = nullptr;
  size_t capacity = 0;
};

// A block of at least `size` bytes, aligned to 64, not cleared. Throws std::bad_alloc.
Block AllocateBlock(size_t size);

// Takes back a block of AllocateBlock, or an empty one. Both functions are thread-safe.
void FreeBlock(Block block) noexcept;

}  // namespace tfrecord_beam
