// What crosses the border between the shim and Rust.
//
// No exception crosses it. "JS thread" is the thread of the isolate that a handle belongs to; each function says which
// thread may call it.
#ifndef SELFPROF_HANDLES_H_
#define SELFPROF_HANDLES_H_

#include <cstring>

#include "compat.h"
#include "selfprof_numbers.h"

#define SELFPROF_API extern "C"

namespace selfprof {

// A JavaScript value as Node-API's napi_value has it: the address of a handle in the handle scope of the native
// function that JavaScript has called. It is valid until that function returns. Handles that the shim returns belong to
// the same scope.
using Handle = void*;

template <typename T>
v8::Local<T> FromHandle(Handle handle) {
  static_assert(sizeof(v8::Local<T>) == sizeof(Handle), "js_native_api_v8.h makes the same assumption");
  v8::Local<T> local;
  std::memcpy(static_cast<void*>(&local), &handle, sizeof(handle));
  return local;
}

template <typename T>
Handle ToHandle(v8::Local<T> local) {
  static_assert(sizeof(local) == sizeof(Handle), "js_native_api_v8.h makes the same assumption");
  Handle handle;
  std::memcpy(&handle, static_cast<const void*>(&local), sizeof(handle));
  return handle;
}

}  // namespace selfprof

#endif  // SELFPROF_HANDLES_H_
