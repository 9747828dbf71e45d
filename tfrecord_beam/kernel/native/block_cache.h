// Memory for columns and for the content of files: a few freed blocks are kept for reuse, because a
// fresh page from the operating system costs as much as decoding the data that it holds.
#pragma once

#include <cstddef>

namespace tfrecord_beam {

// What a block is for. The content of a file is needed for a short time, columns perhaps for a long
// one: if they took its blocks, each read would need fresh pages, while other threads wait for it.
enum class BlockUse { kColumn, kFile };

struct Block {
  void* data = nullptr;
  size_t capacity = 0;
  BlockUse use = BlockUse::kColumn;
};

// A block of at least `size` bytes, aligned to 64, not cleared. Throws std::bad_alloc.
Block AllocateBlock(size_t size, BlockUse use);

// Takes back a block of AllocateBlock, or an empty one. Both functions are thread-safe.
void FreeBlock(Block block) noexcept;

}  // namespace tfrecord_beam
