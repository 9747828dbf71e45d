// Memory for columns: a few freed blocks are kept and given out again, for a page that the system
// gives for the first time costs as much as decoding what it holds.
#pragma once

#include <cstddef>

namespace tfrecord_beam {

struct Block {
  void* data = nullptr;
  size_t capacity = 0;
};

// A block of at least `size` bytes, aligned to 64, not cleared. Throws std::bad_alloc.
Block AllocateBlock(size_t size);

// Takes back a block of AllocateBlock, or none. Threads may give and take at once.
void FreeBlock(Block block) noexcept;

}  // namespace tfrecord_beam
