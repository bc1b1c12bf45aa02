// What V8 takes while it compiles a text.
#ifndef SELFPROF_SYNTAX_TREE_H_
#define SELFPROF_SYNTAX_TREE_H_

#include "handles.h"

namespace selfprof {

// Whether a text is too long to be compiled, or may take too much memory. To be called on the JS thread.
bool IsTooLargeToCompile(v8::Isolate* isolate, v8::Local<v8::String> source);

}  // namespace selfprof

#endif  // SELFPROF_SYNTAX_TREE_H_
