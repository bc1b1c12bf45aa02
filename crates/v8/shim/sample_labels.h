// The labels of the code that a thread runs, read in the signal handler by which V8 samples it.
#ifndef SELFPROF_SAMPLE_LABELS_H_
#define SELFPROF_SAMPLE_LABELS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace selfprof {

// How many numbers a label has. src/ffi.rs and packages/selfprof/src/labels say what they mean; all are 0 if there is
// no label.
constexpr size_t kLabelNumbers = 8;

// The numbers of a label.
struct LabelNumbers {
  int32_t values[kLabelNumbers] = {};
  bool operator==(const LabelNumbers& other) const { return std::memcmp(values, other.values, sizeof(values)) == 0; }
};

// Signal handler of a sampled thread. Reads its labels at this time. Does nothing for a thread without any.
void ReadLabels(uint64_t now_us) noexcept;

}  // namespace selfprof

#endif  // SELFPROF_SAMPLE_LABELS_H_
