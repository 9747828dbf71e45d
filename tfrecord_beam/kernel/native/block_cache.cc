#include "block_cache.h"

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace tfrecord_beam {
namespace {

// Smaller blocks malloc keeps by itself; larger ones are rare, and the cost of their pages is small
// beside that of filling them.
constexpr size_t kSmallest = size_t{64} << 10;
constexpr size_t kLargest = size_t{32} << 20;

// What is kept at the most: about what the batches of one 8 MiB block of records take.
constexpr size_t kMostKept = size_t{32} << 20;

// Sizes between two powers of two, so that blocks fit later requests and at most a fifth is wasted.
constexpr size_t kSteps = 4;

size_t RoundUp(size_t size) {
  size_t power = kSmallest;
  while (power < size / 2) power *= 2;
  const size_t step = power / kSteps;
  return (size + step - 1) / step * step;
}

class Cache {
 public:
  // Returns an empty block if it has none of this capacity.
  Block Take(size_t capacity) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = blocks_.size(); i > 0;
         --i) {  // the last one freed is likeliest in the CPU's cache
      if (blocks_[i - 1].capacity != capacity) continue;
      const Block block = blocks_[i - 1];
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i - 1));
      kept_ -= capacity;
      return block;
    }
    return {};
  }

  // Whether the block is kept.
  bool Give(Block block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (kept_ + block.capacity > kMostKept) return false;
    blocks_.push_back(block);
    kept_ += block.capacity;
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<Block> blocks_;
  size_t kept_ = 0;
};

// Never destroyed: arrays may be released while the process ends.
Cache& TheCache() {
  static Cache* const cache = new Cache;
  return *cache;
}

bool IsKept(size_t capacity) { return capacity >= kSmallest && capacity <= kLargest; }

}  // namespace

Block AllocateBlock(size_t size) {
  Block block{nullptr, size};
  if (IsKept(size)) {
    block.capacity = RoundUp(size);
    const Block kept = TheCache().Take(block.capacity);
    if (kept.data != nullptr) return kept;
  }
  block.data = std::malloc(block.capacity);
  if (block.data == nullptr) throw std::bad_alloc();
  return block;
}

void FreeBlock(Block block) noexcept {
  if (block.data == nullptr) return;
  if (IsKept(block.capacity)) {
    try {
      if (TheCache().Give(block)) return;
    } catch (const std::bad_alloc&) {
      // The list of kept blocks cannot grow: this one is simply freed.
    }
  }
  std::free(block.data);
}

}  // namespace tfrecord_beam
