// What is compiled, for scripts and modules.
#ifndef SELFPROF_SOURCE_H_
#define SELFPROF_SOURCE_H_

#include <cstddef>
#include <cstdint>

#include "../handles.h"

// src/ffi.rs has the same struct.
struct SelfprofSource {
  selfprof::Handle anchor;    // any object of the context
  selfprof::Handle text;      // a string
  selfprof::Handle url;       // a string
  selfprof::Handle referrer;  // a function whose import() it shares, or null
  int32_t line_offset;
  int32_t column_offset;
  uint32_t realm;
  bool muted;
};
static_assert(sizeof(SelfprofSource) == 48 && offsetof(SelfprofSource, referrer) == 24 &&
              offsetof(SelfprofSource, line_offset) == 32 && offsetof(SelfprofSource, realm) == 40 &&
              offsetof(SelfprofSource, muted) == 44);

namespace selfprof {

// The context that `anchor` was made in. It must not be the current one, which is the host's own: a page's script could
// reach everything there.
Status FindContext(v8::Isolate* isolate, Handle anchor, v8::Local<v8::Context>* context);

// Whether text, URL and referrer have the right types.
bool IsWellFormed(const SelfprofSource& source);

v8::ScriptCompiler::Source CompilerSource(v8::Isolate* isolate, const SelfprofSource& source, bool is_module);

}  // namespace selfprof

#endif  // SELFPROF_SOURCE_H_
