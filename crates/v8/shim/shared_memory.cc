// How much memory pages share between their threads. V8 counts it for no isolate, since it lives as long as anyone has it.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "handles.h"

using selfprof::FromHandle;
using selfprof::Handle;
using v8::BackingStore;
using v8::Isolate;
using v8::Local;
using v8::Value;

namespace {

// How many pieces of it a page may have. Each is looked at whenever the memory of the page is measured.
constexpr size_t kMaxPieces = 10'000;

// The memory that a page has made. It is not kept alive by this.
struct Pieces {
  std::vector<std::weak_ptr<BackingStore>> stores;
  // How many bytes they had when they were measured last, with those of the stores that were noted since. They may have fewer now.
  uint64_t bytes = 0;
  // With how many stores they are measured again: twice as many as last time, so that most calls measure nothing.
  size_t measure_at = 64;
};

// By the number of the page. Any thread, with the mutex.
std::mutex mutex;
std::unordered_map<uint32_t, Pieces>& Pages() {
  static auto* pages = new std::unordered_map<uint32_t, Pieces>;
  return *pages;
}

// Measures the memory that somebody still has. Any thread, with the mutex.
void Measure(Pieces& pieces) {
  std::vector<std::weak_ptr<BackingStore>>& stores = pieces.stores;
  pieces.bytes = 0;
  stores.erase(std::remove_if(stores.begin(), stores.end(),
                              [&](const std::weak_ptr<BackingStore>& weak) {
                                std::shared_ptr<BackingStore> store = weak.lock();
                                if (store == nullptr) return true;
                                pieces.bytes += store->ByteLength();
                                return false;
                              }),
               stores.end());
  pieces.measure_at = std::max<size_t>(64, 2 * stores.size());
}

// Forgets the pages of which no memory is left. Any thread, with the mutex.
void ForgetOthers() {
  for (auto next = Pages().begin(); next != Pages().end();) {
    Measure(next->second);
    next = next->second.stores.empty() ? Pages().erase(next) : std::next(next);
  }
}

}  // namespace

// JS thread, inside a native function. Notes that a page has made this memory. Returns false, and does not note it, if the page would then have
// more than `limit` bytes or too many pieces. Another value than shared memory takes none.
SELFPROF_API bool selfprof_note_shared_memory(Handle buffer, uint32_t page, uint64_t limit) noexcept {
  Local<Value> value = FromHandle<Value>(buffer);
  if (!value->IsSharedArrayBuffer()) return true;
  std::shared_ptr<BackingStore> store = value.As<v8::SharedArrayBuffer>()->GetBackingStore();
  uint64_t bytes = store->ByteLength();
  std::lock_guard<std::mutex> lock(mutex);
  if (Pages().count(page) == 0) ForgetOthers();
  Pieces& pieces = Pages()[page];
  auto has_room = [&] { return pieces.bytes + bytes <= limit && pieces.stores.size() < kMaxPieces; };
  if (!has_room() || pieces.stores.size() >= pieces.measure_at) Measure(pieces);
  if (!has_room()) return false;
  pieces.stores.push_back(store);
  pieces.bytes += bytes;
  return true;
}

// Any thread. The memory that a page has made and somebody still has, in bytes.
SELFPROF_API uint64_t selfprof_shared_memory(uint32_t page) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = Pages().find(page);
  if (found == Pages().end()) return 0;
  Measure(found->second);
  uint64_t bytes = found->second.bytes;
  if (found->second.stores.empty()) Pages().erase(found);
  return bytes;
}
