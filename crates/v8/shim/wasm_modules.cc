// How much the modules of WebAssembly take that all pages have. V8 ends the process when their machine code is 4,095 MB together.

#include <cstdint>
#include <limits>
#include <mutex>

#include "handles.h"
#include "memory_pieces.h"

namespace {

constexpr uint64_t kMaxModules = uint64_t{3} << 30;

// Any thread, with the mutex.
std::mutex mutex_of_modules;
selfprof::MemoryPieces& Modules() {
  static auto* modules = new selfprof::MemoryPieces;
  return *modules;
}

}  // namespace

// JS thread, inside a native function. Notes a module, for which the buffer stands: it is as long as the module takes bytes, and lives as long.
// Returns false, and does not note it, when there is no room for it.
SELFPROF_API bool selfprof_note_wasm_module(selfprof::Handle buffer) noexcept {
  v8::Local<v8::Value> value = selfprof::FromHandle<v8::Value>(buffer);
  if (!value->IsArrayBuffer()) return true;
  std::lock_guard<std::mutex> lock(mutex_of_modules);
  return Modules().Add(value.As<v8::ArrayBuffer>()->GetBackingStore(), kMaxModules, std::numeric_limits<size_t>::max());
}
