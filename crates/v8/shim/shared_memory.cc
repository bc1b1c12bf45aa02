// How much memory pages share between their threads. V8 counts it for no isolate, since it lives as long as anyone has it.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "handles.h"

using selfprof::FromHandle;
using selfprof::Handle;
using v8::BackingStore;
using v8::Isolate;
using v8::Local;
using v8::Value;

namespace {

// Memory that a page has made. It is not kept alive by this.
struct Shared {
  uint32_t page;
  std::weak_ptr<BackingStore> store;
};

// Any thread, with the mutex.
std::mutex mutex;
std::vector<Shared>& List() {
  static auto* list = new std::vector<Shared>;
  return *list;
}

// The bytes of the memory that a page has made and somebody still has. Any thread, with the mutex.
uint64_t SizeOf(uint32_t page) {
  std::vector<Shared>& list = List();
  uint64_t bytes = 0;
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const Shared& shared) {
                              std::shared_ptr<BackingStore> store = shared.store.lock();
                              if (store == nullptr) return true;
                              if (shared.page == page) bytes += store->ByteLength();
                              return false;
                            }),
             list.end());
  return bytes;
}

}  // namespace

// JS thread, inside a native function. Notes that a page has made this memory. Returns false, and does not note it, if the page would then have
// more than `limit` bytes. Another value than shared memory takes none.
SELFPROF_API bool selfprof_note_shared_memory(Handle buffer, uint32_t page, uint64_t limit) noexcept {
  Local<Value> value = FromHandle<Value>(buffer);
  if (!value->IsSharedArrayBuffer()) return true;
  std::shared_ptr<BackingStore> store = value.As<v8::SharedArrayBuffer>()->GetBackingStore();
  std::lock_guard<std::mutex> lock(mutex);
  if (SizeOf(page) + store->ByteLength() > limit) return false;
  List().push_back({page, store});
  return true;
}

// Any thread.
SELFPROF_API uint64_t selfprof_shared_memory(uint32_t page) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  return SizeOf(page);
}
