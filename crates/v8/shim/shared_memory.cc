// How much memory pages share between their threads. V8 counts it for no isolate, since it lives as long as anyone has it.

#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "handles.h"
#include "memory_pieces.h"

using selfprof::FromHandle;
using selfprof::Handle;
using selfprof::MemoryPieces;
using v8::BackingStore;
using v8::Local;
using v8::Value;

namespace {

// How many pieces of it a page may have. Each is looked at whenever the memory of the page is measured.
constexpr size_t kMaxPieces = 10'000;

// The memory that a page has made, by the number of the page. Any thread, with the mutex.
std::mutex mutex;
std::unordered_map<uint32_t, MemoryPieces>& Pages() {
  static auto* pages = new std::unordered_map<uint32_t, MemoryPieces>;
  return *pages;
}

// Forgets the pages of which no memory is left. Any thread, with the mutex.
void ForgetOthers() {
  for (auto next = Pages().begin(); next != Pages().end();) {
    next->second.Measure();
    next = next->second.empty() ? Pages().erase(next) : std::next(next);
  }
}

}  // namespace

// JS thread, inside a native function. Notes that a page has made this memory. Returns false, and does not note it, if the page would then have
// more than `limit` bytes or too many pieces. Another value than shared memory takes none.
SELFPROF_API bool selfprof_note_shared_memory(Handle buffer, uint32_t page, uint64_t limit) noexcept {
  Local<Value> value = FromHandle<Value>(buffer);
  if (!value->IsSharedArrayBuffer()) return true;
  std::shared_ptr<BackingStore> store = value.As<v8::SharedArrayBuffer>()->GetBackingStore();
  std::lock_guard<std::mutex> lock(mutex);
  if (Pages().count(page) == 0) ForgetOthers();
  return Pages()[page].Add(store, limit, kMaxPieces);
}

// Any thread. The memory that a page has made and somebody still has, in bytes.
SELFPROF_API uint64_t selfprof_shared_memory(uint32_t page) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = Pages().find(page);
  if (found == Pages().end()) return 0;
  uint64_t bytes = found->second.Measure();
  if (found->second.empty()) Pages().erase(found);
  return bytes;
}
