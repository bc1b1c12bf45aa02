// Adds up memory that is not kept alive by that.
#ifndef SELFPROF_MEMORY_PIECES_H_
#define SELFPROF_MEMORY_PIECES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compat.h"

namespace selfprof {

// Any thread, one at a time.
class MemoryPieces {
 public:
  // Notes a piece, unless there would then be more than `limit` bytes, or more than `max_pieces`. Returns whether it was noted.
  bool Add(const std::shared_ptr<v8::BackingStore>& store, uint64_t limit, size_t max_pieces) {
    uint64_t bytes = store->ByteLength();
    auto has_room = [&] { return bytes_ + bytes <= limit && stores_.size() < max_pieces; };
    if (!has_room() || stores_.size() >= measure_at_) Measure();
    if (!has_room()) return false;
    stores_.push_back(store);
    bytes_ += bytes;
    return true;
  }

  // Measures what somebody still has, in bytes.
  uint64_t Measure() {
    bytes_ = 0;
    stores_.erase(std::remove_if(stores_.begin(), stores_.end(),
                                 [&](const std::weak_ptr<v8::BackingStore>& weak) {
                                   std::shared_ptr<v8::BackingStore> store = weak.lock();
                                   if (store == nullptr) return true;
                                   bytes_ += store->ByteLength();
                                   return false;
                                 }),
                  stores_.end());
    measure_at_ = std::max<size_t>(64, 2 * stores_.size());
    return bytes_;
  }

  bool empty() const { return stores_.empty(); }

 private:
  std::vector<std::weak_ptr<v8::BackingStore>> stores_;
  // How many bytes they had when they were measured last, with those of the stores that were noted since. They may have fewer now.
  uint64_t bytes_ = 0;
  // With how many stores they are measured again: twice as many as last time, so that most calls measure nothing.
  size_t measure_at_ = 64;
};

}  // namespace selfprof

#endif  // SELFPROF_MEMORY_PIECES_H_
