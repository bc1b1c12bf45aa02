// Structured clone by V8's own serializer, in the context of any realm.
// https://html.spec.whatwg.org/multipage/structured-data.html
//
// All functions are for the JS thread, inside a native function that JavaScript called. When V8 or a function of the
// delegate throws, the exception stays pending and null is returned.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "../handles.h"
#include "catch.h"

using selfprof::FromHandle;
using selfprof::Handle;
using selfprof::ToHandle;
using v8::Array;
using v8::ArrayBuffer;
using v8::BackingStore;
using v8::Context;
using v8::Function;
using v8::Isolate;
using v8::Local;
using v8::Maybe;
using v8::MaybeLocal;
using v8::Object;
using v8::SharedArrayBuffer;
using v8::String;
using v8::Value;

// src/ffi.rs has the same structs. All members are values of the realm.
struct SelfprofCloneWriter {
  Handle anchor;              // any object of the realm
  Handle is_host_object;      // (object) -> boolean
  Handle write_host_object;   // (object) -> its index in the reader's host_objects
  Handle share_memory;        // (SharedArrayBuffer) is that the reader's `shared` has next; throws when it must not be shared
  Handle data_clone_error;    // (message) throws a DataCloneError
  Handle transferred;         // [ArrayBuffer, ...]
};
static_assert(sizeof(SelfprofCloneWriter) == 48 && offsetof(SelfprofCloneWriter, transferred) == 40);

struct SelfprofCloneReader {
  Handle anchor;        // any object of the realm
  Handle host_objects;  // [object, ...]
  Handle shared;        // [SharedArrayBuffer, ...], of any realm
  Handle transferred;   // [ArrayBuffer, ...], of any realm
};
static_assert(sizeof(SelfprofCloneReader) == 32 && offsetof(SelfprofCloneReader, transferred) == 24);

namespace {

bool Realm(Isolate* isolate, Handle anchor, Local<Context>* context) {
  Local<Value> value = FromHandle<Value>(anchor);
  return value->IsObject() && selfprof::CreationContext(isolate, value.As<Object>()).ToLocal(context);
}

std::nullptr_t ThrowTypeError(Isolate* isolate, Local<Context> context, const char* message) {
  // What failed may have failed because the thread is to end, which an exception would undo.
  if (isolate->IsExecutionTerminating()) return nullptr;
  Context::Scope scope(context);
  isolate->ThrowException(
      v8::Exception::TypeError(String::NewFromUtf8(isolate, message).FromMaybe(String::Empty(isolate))));
  return nullptr;
}

// The elements of an array. Returns false when it is not an array, or when an element has another type.
template <typename T>
bool Elements(Local<Context> context, Handle array, bool (Value::*has_type)() const, std::vector<Local<T>>* elements) {
  Local<Value> value = FromHandle<Value>(array);
  if (!value->IsArray()) return false;
  Local<Array> list = value.As<Array>();
  for (uint32_t index = 0; index < list->Length(); ++index) {
    Local<Value> element;
    if (!list->Get(context, index).ToLocal(&element) || !((*element)->*has_type)()) return false;
    elements->push_back(element.As<T>());
  }
  return true;
}

class Writer : public v8::ValueSerializer::Delegate {
 public:
  Writer(Isolate* isolate, Local<Context> context, const SelfprofCloneWriter& options)
      : isolate_(isolate), context_(context), options_(options), serializer_(isolate, this) {}

  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  v8::ValueSerializer& serializer() { return serializer_; }

  void ThrowDataCloneError(Local<String> message) override {
    v8::HandleScope scope(isolate_);
    Local<Value> argument = message;
    Call(options_.data_clone_error, argument).FromMaybe(Local<Value>());
  }

#if NODE_MODULE_VERSION >= SELFPROF_NODE_22
  bool HasCustomHostObject(Isolate*) override { return true; }

  Maybe<bool> IsHostObject(Isolate*, Local<Object> object) override {
    v8::HandleScope scope(isolate_);
    Local<Value> result;
    if (!Call(options_.is_host_object, object).ToLocal(&result)) return v8::Nothing<bool>();
    return v8::Just(result->IsTrue());
  }
#endif

  Maybe<bool> WriteHostObject(Isolate*, Local<Object> object) override {
    v8::HandleScope scope(isolate_);
    Local<Value> index;
    if (!Call(options_.write_host_object, object).ToLocal(&index)) return v8::Nothing<bool>();
    serializer_.WriteUint32(index->IsUint32() ? index.As<v8::Uint32>()->Value() : 0);
    return v8::Just(true);
  }

  Maybe<uint32_t> GetSharedArrayBufferId(Isolate*, Local<SharedArrayBuffer> buffer) override {
    v8::HandleScope scope(isolate_);
    if (Call(options_.share_memory, buffer).IsEmpty()) return v8::Nothing<uint32_t>();
    return v8::Just(shared_count_++);
  }

  // Without this, V8 writes nothing for a module, and what follows it cannot be read.
  Maybe<uint32_t> GetWasmModuleTransferId(Isolate*, Local<v8::WasmModuleObject>) override {
    ThrowDataCloneError(String::NewFromUtf8Literal(isolate_, "A WebAssembly.Module could not be cloned."));
    return v8::Nothing<uint32_t>();
  }

 private:
  MaybeLocal<Value> Call(Handle function, Local<Value> argument) {
    return FromHandle<Function>(function)->Call(context_, v8::Undefined(isolate_), 1, &argument);
  }

  Isolate* isolate_;
  Local<Context> context_;
  const SelfprofCloneWriter& options_;
  uint32_t shared_count_ = 0;
  v8::ValueSerializer serializer_;
};

class Reader : public v8::ValueDeserializer::Delegate {
 public:
  Reader(Isolate* isolate, const std::vector<Local<Object>>& host_objects,
         const std::vector<Local<SharedArrayBuffer>>& shared, Local<ArrayBuffer> bytes)
      : isolate_(isolate),
        host_objects_(host_objects),
        shared_(shared),
        deserializer_(isolate, static_cast<const uint8_t*>(bytes->Data()), bytes->ByteLength(), this) {}

  v8::ValueDeserializer& deserializer() { return deserializer_; }

  MaybeLocal<Object> ReadHostObject(Isolate*) override {
    uint32_t index;
    if (!deserializer_.ReadUint32(&index) || index >= host_objects_.size()) return {};
    return host_objects_[index];
  }

  // The same memory, as an object of this realm.
  MaybeLocal<SharedArrayBuffer> GetSharedArrayBufferFromId(Isolate*, uint32_t index) override {
    if (index >= shared_.size()) return {};
    return SharedArrayBuffer::New(isolate_, shared_[index]->GetBackingStore());
  }

 private:
  Isolate* isolate_;
  const std::vector<Local<Object>>& host_objects_;
  const std::vector<Local<SharedArrayBuffer>>& shared_;
  v8::ValueDeserializer deserializer_;
};

// The memory of a buffer as an object of the current context. The buffer is detached; when it cannot be, an exception
// is pending.
MaybeLocal<ArrayBuffer> Take(Isolate* isolate, Local<ArrayBuffer> buffer) {
  std::shared_ptr<BackingStore> store = buffer->GetBackingStore();
  if (!buffer->Detach(Local<Value>()).FromMaybe(false)) return {};
  return ArrayBuffer::New(isolate, std::move(store));
}

// What was written, as an object of the current context.
Local<ArrayBuffer> TakeBytes(Isolate* isolate, v8::ValueSerializer* serializer) {
  auto [bytes, size] = serializer->Release();
  // V8 doubles its buffer when it is full. When it cannot be made smaller, it stays as it is.
  void* smaller = std::realloc(bytes, size);
  void* data = smaller == nullptr ? bytes : smaller;
  const auto free = [](void* memory, size_t, void*) { std::free(memory); };
  return ArrayBuffer::New(isolate, ArrayBuffer::NewBackingStore(data, size, free, nullptr));
}

}  // namespace

// Returns an array of the realm: the bytes as an ArrayBuffer, and then the transferred buffers, which were detached.
SELFPROF_API Handle selfprof_clone_write(Isolate* isolate, Handle value, const SelfprofCloneWriter* options) noexcept {
  Local<Context> context;
  if (!Realm(isolate, options->anchor, &context)) return nullptr;
  std::vector<Local<ArrayBuffer>> transferred;
  const Handle functions[] = {options->is_host_object, options->write_host_object, options->share_memory,
                              options->data_clone_error};
  for (Handle function : functions) {
    if (!FromHandle<Value>(function)->IsFunction()) return ThrowTypeError(isolate, context, "a function is missing");
  }
  if (!Elements(context, options->transferred, &Value::IsArrayBuffer, &transferred)) {
    return ThrowTypeError(isolate, context, "only ArrayBuffers can be transferred");
  }
  Context::Scope scope(context);
  Writer writer(isolate, context, *options);
  v8::ValueSerializer& serializer = writer.serializer();
  for (uint32_t index = 0; index < transferred.size(); ++index) {
    serializer.TransferArrayBuffer(index, transferred[index]);
  }
  serializer.WriteHeader();
  if (!serializer.WriteValue(context, FromHandle<Value>(value)).FromMaybe(false)) return nullptr;
  // Getters of the value may have detached or frozen them.
  for (Local<ArrayBuffer> buffer : transferred) {
    if (!buffer->IsDetachable() || buffer->WasDetached()) {
      writer.ThrowDataCloneError(String::NewFromUtf8Literal(isolate, "An ArrayBuffer could not be transferred."));
      return nullptr;
    }
  }
  std::vector<Local<Value>> result{TakeBytes(isolate, &serializer)};
  for (Local<ArrayBuffer> buffer : transferred) {
    Local<ArrayBuffer> taken;
    if (!Take(isolate, buffer).ToLocal(&taken)) return nullptr;
    result.push_back(taken);
  }
  return ToHandle(Array::New(isolate, result.data(), result.size()));
}

// Returns the value, all of whose objects belong to the realm. V8 runs no JavaScript meanwhile.
SELFPROF_API Handle selfprof_clone_read(Isolate* isolate, Handle bytes, const SelfprofCloneReader* options) noexcept {
  Local<Context> context;
  if (!Realm(isolate, options->anchor, &context)) return nullptr;
  std::vector<Local<SharedArrayBuffer>> shared;
  std::vector<Local<ArrayBuffer>> transferred;
  std::vector<Local<Object>> host_objects;
  if (!FromHandle<Value>(bytes)->IsArrayBuffer() ||
      !Elements(context, options->host_objects, &Value::IsObject, &host_objects) ||
      !Elements(context, options->shared, &Value::IsSharedArrayBuffer, &shared) ||
      !Elements(context, options->transferred, &Value::IsArrayBuffer, &transferred)) {
    return ThrowTypeError(isolate, context, "the record of a value is damaged");
  }
  Context::Scope scope(context);
  Reader reader(isolate, host_objects, shared, FromHandle<Value>(bytes).As<ArrayBuffer>());
  v8::ValueDeserializer& deserializer = reader.deserializer();
  for (uint32_t index = 0; index < transferred.size(); ++index) {
    if (!transferred[index]->IsDetachable()) return ThrowTypeError(isolate, context, "the record of a value is damaged");
    Local<ArrayBuffer> taken;
    if (!Take(isolate, transferred[index]).ToLocal(&taken)) return nullptr;
    deserializer.TransferArrayBuffer(index, taken);
  }
  selfprof::Catch caught(isolate);
  Local<Value> value;
  if (deserializer.ReadHeader(context).FromMaybe(false) && deserializer.ReadValue(context).ToLocal(&value)) {
    return ToHandle(value);
  }
  if (caught->HasCaught()) {
    caught->ReThrow();
    return nullptr;
  }
  return ThrowTypeError(isolate, context, "the record of a value is damaged");
}
