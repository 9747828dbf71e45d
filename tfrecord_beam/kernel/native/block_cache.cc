#include "block_cache.h"

#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

// Without AddressSanitizer its macros do nothing.
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace tfrecord_beam {
namespace {

// malloc itself reuses smaller blocks; larger ones are rare, and the cost of their pages is small
// compared with that of filling them.
constexpr size_t kSmallest = size_t{8} << 10;
constexpr size_t kLargest = size_t{64} << 20;

// The most that is kept for each use: enough for a few batches.
constexpr size_t kMostKept = size_t{64} << 20;

// Recommended by Arrow; TensorFlow only shares memory with this alignment.
constexpr std::align_val_t kAlignment{64};

// Block sizes per power of two, so that blocks fit later requests and at most a fifth is wasted.
constexpr size_t kSteps = 4;

size_t RoundUp(size_t size) {
  size_t power = kSmallest;
  while (power < size / 2) power *= 2;
  const size_t step = power / kSteps;
  return (size + step - 1) / step * step;
}

// Uses try_lock and falls back to the allocator if the lock is held: if the process forks while
// another thread holds the lock, it stays locked for ever in the child.
class Cache {
 public:
  // Returns null if no block of this capacity is kept.
  void* Take(size_t capacity) {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return nullptr;
    std::vector<void*>& blocks = blocks_[capacity];
    if (blocks.empty()) return nullptr;
    void* const data = blocks.back();  // freed last, so most likely in the CPU's cache
    blocks.pop_back();
    kept_ -= capacity;
    ASAN_UNPOISON_MEMORY_REGION(data, capacity);
    return data;
  }

  // Whether the block is kept.
  bool Give(Block block) {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    if (kept_ + block.capacity > kMostKept) Clear();  // probably of sizes no longer requested
    blocks_[block.capacity].push_back(block.data);
    kept_ += block.capacity;
    ASAN_POISON_MEMORY_REGION(block.data, block.capacity);  // any access is a use after free
    return true;
  }

 private:
  void Clear() {
    for (auto& [capacity, blocks] : blocks_) {
      for (void* const block : blocks) ::operator delete(block, kAlignment);
      blocks.clear();
    }
    kept_ = 0;
  }

  std::mutex mutex_;
  std::unordered_map<size_t, std::vector<void*>> blocks_;  // by capacity
  size_t kept_ = 0;
};

// Never destroyed: arrays may be released while the process ends.
Cache& CacheFor(BlockUse use) {
  static Cache* const columns = new Cache;
  static Cache* const files = new Cache;
  return use == BlockUse::kColumn ? *columns : *files;
}

bool IsKept(size_t capacity) { return capacity >= kSmallest && capacity <= kLargest; }

}  // namespace

Block AllocateBlock(size_t size, BlockUse use) {
  Block block{nullptr, size, use};
  if (IsKept(size)) {
    block.capacity = RoundUp(size);
    block.data = CacheFor(use).Take(block.capacity);
  }
  if (block.data == nullptr) block.data = ::operator new(block.capacity, kAlignment);
  return block;
}

void FreeBlock(Block block) noexcept {
  if (block.data == nullptr) return;
  if (IsKept(block.capacity)) {
    try {
      if (CacheFor(block.use).Give(block)) return;
    } catch (const std::bad_alloc&) {
      // The list of kept blocks cannot grow: this one is simply freed.
    }
  }
  ::operator delete(block.data, kAlignment);
}

}  // namespace tfrecord_beam
