// The labels of the code that a thread runs, read whenever V8 samples it.
//
// JavaScript keeps them in an AsyncLocalStorage, as an object whose first fields are small integers. Where Node keeps
// async context in the isolate (AsyncContextFrame, a Map from each AsyncLocalStorage to its value), the signal handler
// walks from there to the object, without calling V8. It relies on the layout of V8's objects, so JavaScript tries it
// first, with a value that it knows; without success, there are no labels. Elsewhere, JavaScript writes the numbers
// into memory that the handler reads.
//
// V8 moves objects during a garbage collection, so the handler uses what was read just before it.

#include "sample_labels.h"

#include <pthread.h>

#include <atomic>
#include <cstring>
#include <new>

#include "clock.h"
#include "handles.h"
#include "signal_guard.h"

// src/ffi.rs has the same struct.
struct SelfprofLabels {
  uint64_t from_us;    // on the clock of samples
  uint64_t before_us;  // when labels were last read for a sample before; 0 if they never were
  int32_t numbers[selfprof::kLabelNumbers];
};
static_assert(sizeof(SelfprofLabels) == 48 && offsetof(SelfprofLabels, before_us) == 8 && offsetof(SelfprofLabels, numbers) == 16);

using selfprof::FromHandle;
using selfprof::Handle;
using selfprof::LabelNumbers;

namespace {

using v8::internal::Address;
using v8::internal::Internals;

// How many readings are held until they are taken, which is every two seconds.
constexpr uint32_t kLabelsCapacity = 4096;

// The greatest number of AsyncLocalStorages that are looked through.
constexpr int kMostStores = 512;

// The key of each thread's SelfprofSampleLabels. Created before the first of them, and lives as long as the process.
pthread_key_t labels_key;
std::atomic<bool> has_labels_key{false};

}  // namespace

// The labels of one thread: one reading for each time at which they differ from those before.
//
// Belongs to the thread. Its signal handler interrupts the other functions, and does nothing while `is_in_use` is set.
struct SelfprofSampleLabels {
  explicit SelfprofSampleLabels(v8::Isolate* owner) noexcept : isolate(owner) {}

  // Signal handler, or JS thread while `is_in_use` is set. Reads the labels of a sample that V8 is about to take.
  void Read(uint64_t now_us) noexcept {
    ReadWithoutSample(now_us);
    read_at_us_ = now_us;
  }

  void ReadWithoutSample(uint64_t now_us) noexcept {
    EndGap(now_us);
    Add(now_us, is_collecting_.load(std::memory_order_relaxed) ? before_collection_ : Current());
  }

  // Whether the labels that the handler would read now are these. `frame` is the current one.
  bool Reads(const int32_t* expected) const noexcept {
    if (ContextFrame() != ObjectOf(frame)) return false;
    return std::memcmp(Current().values, expected, sizeof(LabelNumbers::values)) == 0;
  }

  void BeginCollection() noexcept {
    before_collection_ = Current();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    is_collecting_.store(true, std::memory_order_relaxed);
  }

  void EndCollection() noexcept { is_collecting_.store(false, std::memory_order_relaxed); }

  // If samples since the last reading were not seen, because another profiler's handler did not call ours, nobody knows
  // their labels.
  void EndGap(uint64_t now_us) noexcept {
    if (read_at_us_ != 0 && now_us > read_at_us_ + longest_us) Add(read_at_us_ + 1, LabelNumbers());
  }

  uint32_t Take(SelfprofLabels* to, uint32_t room) noexcept {
    const uint32_t count = count_ < room ? count_ : room;
    std::memcpy(to, held_, count * sizeof(SelfprofLabels));
    std::memmove(held_, held_ + count, (count_ - count) * sizeof(SelfprofLabels));
    count_ -= count;
    // Who takes the next ones may not have got these.
    is_first_ = true;
    return count;
  }

  v8::Isolate* const isolate;
  std::atomic<bool> is_in_use{false};
  // The AsyncLocalStorage; some AsyncContextFrame and some value, whose hidden classes tell others of their kind. Empty
  // unless frames are read.
  v8::Global<v8::Value> key;
  v8::Global<v8::Value> frame;
  v8::Global<v8::Value> value;
  // Memory that JavaScript writes to; null unless it does. `memory_owner` keeps it.
  const int32_t* memory = nullptr;
  v8::Global<v8::Value> memory_owner;
  // Readings farther apart have a gap between them.
  uint64_t longest_us = 0;

 private:
  static Address Field(Address object, int offset) noexcept {
    Address field;
    std::memcpy(&field, reinterpret_cast<const void*>(object - v8::internal::kHeapObjectTag + offset), sizeof(field));
    return field;
  }

  // The object of a handle. The garbage collector updates it.
  static Address ObjectOf(const v8::Global<v8::Value>& global) noexcept {
    static_assert(sizeof(global) == sizeof(const Address*), "a handle is the address of a slot");
    const Address* slot;
    std::memcpy(&slot, static_cast<const void*>(&global), sizeof(slot));
    return slot == nullptr ? v8::internal::kNullAddress : *slot;
  }

  static bool IsLike(Address object, const v8::Global<v8::Value>& example) noexcept {
    const Address other = ObjectOf(example);
    return other != v8::internal::kNullAddress && Internals::HasHeapObjectTag(object) && Field(object, 0) == Field(other, 0);
  }

  // The async context in the isolate.
  Address ContextFrame() const noexcept {
    Address current = v8::internal::kNullAddress;
#if defined(SELFPROF_CONTEXT_FRAME_OFFSET) && !defined(V8_COMPRESS_POINTERS)
    std::memcpy(&current, reinterpret_cast<const char*>(isolate) + SELFPROF_CONTEXT_FRAME_OFFSET, sizeof(current));
#endif
    return current;
  }

  LabelNumbers Current() const noexcept {
    LabelNumbers numbers;
    if (memory != nullptr) {
      std::memcpy(numbers.values, memory, sizeof(numbers.values));
      return numbers;
    }
    const Address current = ContextFrame();
    if (!IsLike(current, frame)) return numbers;
    const Address found = Lookup(Field(current, Internals::kJSObjectHeaderSize));
    if (!IsLike(found, value)) return numbers;
    for (size_t index = 0; index < selfprof::kLabelNumbers; ++index) {
      const int offset = Internals::kJSObjectHeaderSize + static_cast<int>(index) * v8::internal::kApiTaggedSize;
      const Address number = Field(found, offset);
      if (Internals::HasHeapObjectTag(number)) return LabelNumbers();
      numbers.values[index] = static_cast<int32_t>(Internals::SmiValue(number));
    }
    return numbers;
  }

  // The value of our AsyncLocalStorage in a Map's table: the numbers of elements, of deleted elements and of buckets,
  // then the buckets, then a key, a value and a link for each element. The table only grows and is not changed while it
  // is current.
  Address Lookup(Address table) const noexcept {
    if (!Internals::HasHeapObjectTag(table)) return v8::internal::kNullAddress;
    const auto element = [table](int index) {
      return Field(table, Internals::kFixedArrayHeaderSize + index * v8::internal::kApiTaggedSize);
    };
    const Address length = Field(table, v8::internal::kApiTaggedSize);
    const Address counts[] = {element(0), element(1), element(2)};
    for (const Address count : {length, counts[0], counts[1], counts[2]}) {
      if (Internals::HasHeapObjectTag(count) || Internals::SmiValue(count) < 0) return v8::internal::kNullAddress;
    }
    const int used = Internals::SmiValue(counts[0]) + Internals::SmiValue(counts[1]);
    const int first = 3 + Internals::SmiValue(counts[2]);
    if (used > kMostStores || first + 3 * used > Internals::SmiValue(length)) return v8::internal::kNullAddress;
    const Address wanted = ObjectOf(key);
    for (int index = 0; index < used; ++index) {
      if (element(first + 3 * index) == wanted) return element(first + 3 * index + 1);
    }
    return v8::internal::kNullAddress;
  }

  void Add(uint64_t from_us, const LabelNumbers& numbers) noexcept {
    if (numbers == last_ && !is_first_) return;
    if (count_ == kLabelsCapacity) {
      // Without room, later samples have no labels.
      std::memset(held_[count_ - 1].numbers, 0, sizeof(held_[count_ - 1].numbers));
      last_ = LabelNumbers();
      return;
    }
    last_ = numbers;
    is_first_ = false;
    held_[count_].from_us = from_us;
    held_[count_].before_us = read_at_us_;
    std::memcpy(held_[count_].numbers, numbers.values, sizeof(numbers.values));
    ++count_;
  }

  LabelNumbers last_;
  bool is_first_ = true;
  LabelNumbers before_collection_;
  std::atomic<bool> is_collecting_{false};
  uint64_t read_at_us_ = 0;
  uint32_t count_ = 0;
  SelfprofLabels held_[kLabelsCapacity];
};

namespace {

// JS thread, while V8's heap is as JavaScript left it.
void OnCollectionBegin(v8::Isolate*, v8::GCType, v8::GCCallbackFlags, void* labels) {
  static_cast<SelfprofSampleLabels*>(labels)->BeginCollection();
}

void OnCollectionEnd(v8::Isolate*, v8::GCType, v8::GCCallbackFlags, void* labels) {
  static_cast<SelfprofSampleLabels*>(labels)->EndCollection();
}

}  // namespace

void selfprof::ReadLabels(uint64_t now_us) noexcept {
  if (!has_labels_key.load(std::memory_order_relaxed)) return;
  if (auto* labels = static_cast<SelfprofSampleLabels*>(pthread_getspecific(labels_key))) {
    if (!labels->is_in_use.load(std::memory_order_relaxed)) labels->Read(now_us);
  }
}

// JS thread. The labels of this thread, none so far; null if it has some already, or the system has no more keys or
// memory. Lives until selfprof_sample_labels_delete.
SELFPROF_API SelfprofSampleLabels* selfprof_sample_labels_new(v8::Isolate* isolate) noexcept {
  static const bool has_key = pthread_key_create(&labels_key, nullptr) == 0;
  if (!has_key || pthread_getspecific(labels_key) != nullptr) return nullptr;
  auto* labels = new (std::nothrow) SelfprofSampleLabels(isolate);
  if (labels == nullptr) return nullptr;
  if (pthread_setspecific(labels_key, labels) != 0) {
    delete labels;
    return nullptr;
  }
  isolate->AddGCPrologueCallback(OnCollectionBegin, labels);
  isolate->AddGCEpilogueCallback(OnCollectionEnd, labels);
  has_labels_key.store(true, std::memory_order_relaxed);
  return labels;
}

// JS thread, the one that made them, while its isolate lives.
SELFPROF_API void selfprof_sample_labels_delete(SelfprofSampleLabels* labels) noexcept {
  pthread_setspecific(labels_key, nullptr);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  labels->isolate->RemoveGCPrologueCallback(OnCollectionBegin, labels);
  labels->isolate->RemoveGCEpilogueCallback(OnCollectionEnd, labels);
  delete labels;
}

// JS thread, inside a native function that JavaScript called while `key`, an AsyncLocalStorage, has the value `value`,
// whose numbers are `expected`. Reads the current value of `key` from now on. Returns false, and reads none, if that
// does not work with this Node.
SELFPROF_API bool selfprof_sample_labels_read_frames(SelfprofSampleLabels* labels, Handle key, Handle value,
                                                     const int32_t* expected) noexcept {
  const selfprof::SignalGuard guard(labels);
  v8::Local<v8::Value> frame;
  if (!selfprof::CurrentContextFrame(labels->isolate).ToLocal(&frame) || !frame->IsMap()) return false;
  labels->key.Reset(labels->isolate, FromHandle<v8::Value>(key));
  labels->frame.Reset(labels->isolate, frame);
  labels->value.Reset(labels->isolate, FromHandle<v8::Value>(value));
  if (labels->Reads(expected)) return true;
  labels->key.Reset();
  labels->frame.Reset();
  labels->value.Reset();
  return false;
}

// JS thread, inside a native function that JavaScript called. Reads the numbers in the Int32Array `memory` from now on.
// Returns false if it is something else, or too short.
SELFPROF_API bool selfprof_sample_labels_read_memory(SelfprofSampleLabels* labels, Handle memory) noexcept {
  const selfprof::SignalGuard guard(labels);
  v8::Local<v8::Value> array = FromHandle<v8::Value>(memory);
  if (!array->IsInt32Array() || array.As<v8::Int32Array>()->Length() < selfprof::kLabelNumbers) return false;
  // The buffer of a short array may be inside the V8 heap until it is asked for.
  v8::Local<v8::ArrayBuffer> buffer = array.As<v8::Int32Array>()->Buffer();
  const auto* data = static_cast<const char*>(buffer->Data());
  if (data == nullptr) return false;
  labels->memory = reinterpret_cast<const int32_t*>(data + array.As<v8::Int32Array>()->ByteOffset());
  labels->memory_owner.Reset(labels->isolate, buffer);
  return true;
}

// JS thread. Reads the labels now, for a sample that V8 takes without a signal.
SELFPROF_API void selfprof_sample_labels_read(SelfprofSampleLabels* labels) noexcept {
  const selfprof::SignalGuard guard(labels);
  labels->Read(selfprof::NowMicros());
}

// JS thread. The longest time between two samples of a thread that is sampled without a gap.
SELFPROF_API void selfprof_sample_labels_set_longest(SelfprofSampleLabels* labels, uint64_t longest_us) noexcept {
  const selfprof::SignalGuard guard(labels);
  labels->longest_us = longest_us;
}

// JS thread. Moves at most `room` readings to `to`; returns how many. If there were as many, there may be more.
SELFPROF_API uint32_t selfprof_sample_labels_take(SelfprofSampleLabels* labels, uint64_t now_us, SelfprofLabels* to,
                                                  uint32_t room) noexcept {
  const selfprof::SignalGuard guard(labels);
  // Shows which of the samples so far have the labels of the last reading.
  labels->ReadWithoutSample(now_us);
  return labels->Take(to, room);
}
