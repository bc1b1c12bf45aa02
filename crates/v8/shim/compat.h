// What differs between the V8s of the supported Node majors. Nothing else in the shim looks at a version.
#ifndef SELFPROF_COMPAT_H_
#define SELFPROF_COMPAT_H_

#include <node.h>
#include <v8-profiler.h>
#include <v8-unwinder.h>

namespace selfprof {

// Node 26 adds two states and narrows the enum; the names below exist in all majors with the same meaning, so a
// state is translated by name and never by number.
inline int PortableState(v8::StateTag state) {
  switch (state) {
    case v8::JS: return 0;
    case v8::GC: return 1;
    case v8::PARSER: return 2;
    case v8::BYTECODE_COMPILER: return 3;
    case v8::COMPILER: return 4;
    case v8::OTHER: return 5;
    case v8::EXTERNAL: return 6;
    case v8::ATOMICS_WAIT: return 7;
    case v8::IDLE: return 8;
    default: break;
  }
#if NODE_MODULE_VERSION >= 147
  // Idle inside a host call is idle; logging for a profiler is the engine's own work.
  if (state == v8::IDLE_EXTERNAL) return 8;
#endif
  return 5;
}

}  // namespace selfprof

#endif  // SELFPROF_COMPAT_H_
