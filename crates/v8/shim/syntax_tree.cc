// How much memory the syntax tree of a script may take. V8 makes it, and the bytecode from it, outside of its heap: the memory counts
// towards no limit, and nothing interrupts it. A character takes from nothing to 420 bytes: `class{a},` is 3,800.
//
// Nothing but a parser knows the tree, so this reads the words and signs alone, wherever they are, also in texts and comments. The weights
// are of what V8 takes in Node 24: of 1,535 programs made at random, none took more than 1.15 times its estimate. Node 22 and 26 take
// about as much. Programs that people write are estimated at 15 to 51 bytes for each character.

#include "syntax_tree.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace selfprof {
namespace {

// The longest text, in characters.
constexpr int kMaxLength = 32 << 20;
// The largest estimate, in bytes.
constexpr uint64_t kMaxTree = 512 << 20;
// A text of so many characters takes no more than that, whatever they are.
constexpr int kAlwaysAllowed = 1 << 20;

struct Weight {
  std::string_view text;
  uint32_t bytes;
};

// A word that was not there before, such as the name of a variable or of a property, and one that was.
constexpr uint32_t kNewWord = 700;
constexpr uint32_t kWord = 30;
// At most so many characters of a known word count, of one byte each.
constexpr uint32_t kCountedOfWord = 10;

// What a word takes beside that, when it is a keyword.
constexpr Weight kKeywords[] = {
    {"async", 500}, {"await", 500}, {"case", 100}, {"catch", 1'000}, {"class", 4'000}, {"const", 300},
    {"eval", 100},  {"for", 1'500}, {"function", 900}, {"get", 300}, {"let", 300}, {"new", 100},
    {"of", 1'000},  {"set", 300},   {"static", 300}, {"super", 200}, {"switch", 300}, {"try", 300},
    {"using", 1'000}, {"var", 100}, {"with", 900},  {"yield", 300},
};
constexpr size_t kLongestKeyword = 8;

constexpr Weight kSigns[] = {
    {"{", 850}, {"?", 350}, {"`", 320}, {"[", 300}, {":", 220}, {";", 110}, {"#", 100}, {"+-*%<>&|^!~=", 90},
    {"/(@", 60}, {".,", 40}, {"})]", 20},
};
constexpr uint32_t kOtherSign = 30;
constexpr uint32_t kSpace = 1;
// What signs take beside that when they follow each other.
constexpr uint32_t kArrow = 1'600;
constexpr uint32_t kDestructuring = 1'100;
constexpr uint32_t kSpread = 400;

constexpr std::array<uint32_t, 128> WeightsOfSigns() {
  std::array<uint32_t, 128> weights{};
  for (size_t character = 0; character < weights.size(); ++character) {
    weights[character] = character <= ' ' ? kSpace : kOtherSign;
  }
  for (const Weight& signs : kSigns) {
    for (char sign : signs.text) weights[static_cast<size_t>(sign)] = signs.bytes;
  }
  return weights;
}

constexpr std::array<uint32_t, 128> kWeights = WeightsOfSigns();

bool IsOfWord(uint16_t character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '$' || character > 127;
}

// Which words were there, by their hashes: one bit of each. Where two words share a bit, the second one counts as known.
class KnownWords {
 public:
  // Begins another word.
  void Begin() { hash_ = seed_; }
  void Add(uint16_t character) { hash_ = (hash_ ^ character) * 0x100000001b3; }
  // Notes the word that ends. Returns whether it is new.
  bool End() {
    uint64_t bit = (hash_ * 0x9e3779b97f4a7c15) >> (64 - kBits);
    uint64_t mask = uint64_t{1} << (bit % 64);
    bool is_new = (known_[bit / 64] & mask) == 0;
    known_[bit / 64] |= mask;
    return is_new;
  }

 private:
  static constexpr int kBits = 25;
  // A page does not know the seed, so it cannot choose words that share bits.
  uint64_t seed_ = (uint64_t{std::random_device{}()} << 32) | std::random_device{}();
  uint64_t hash_ = 0;
  std::vector<uint64_t> known_ = std::vector<uint64_t>((size_t{1} << kBits) / 64);
};

class Estimate {
 public:
  uint64_t bytes() const { return bytes_; }

  void Read(uint16_t character) {
    if (IsOfWord(character)) {
      if (length_ == 0) words_.Begin();
      words_.Add(character);
      if (length_ < kLongestKeyword) word_[length_] = static_cast<char>(std::min<uint16_t>(character, 127));
      ++length_;
      last_ = 'a';
      return;
    }
    EndWord();
    bytes_ += kWeights[character];
    if (character <= ' ') return;
    if (character == '>' && last_ == '=') bytes_ += kArrow;
    if (character == '=' && (last_ == ']' || last_ == '}')) bytes_ += kDestructuring;
    if (character == '.' && last_ == '.' && before_last_ == '.') bytes_ += kSpread;
    before_last_ = last_;
    last_ = character;
  }

  // Ends the word that is being read, if there is one.
  void EndWord() {
    if (length_ == 0) return;
    // V8 keeps each new word.
    bytes_ += words_.End() ? kNewWord + 2 * length_ : kWord + std::min<uint64_t>(length_, kCountedOfWord);
    if (length_ <= kLongestKeyword) {
      std::string_view word(word_.data(), length_);
      for (const Weight& keyword : kKeywords) {
        if (keyword.text == word) bytes_ += keyword.bytes;
      }
    }
    length_ = 0;
  }

 private:
  uint64_t bytes_ = 0;
  KnownWords words_;
  uint64_t length_ = 0;
  std::array<char, kLongestKeyword> word_{};
  // The last two characters that are no space. A letter stands for a word.
  uint16_t last_ = 0;
  uint16_t before_last_ = 0;
};

}  // namespace

bool IsTooLargeToCompile(v8::Isolate* isolate, v8::Local<v8::String> source) {
  int length = source->Length();
  if (length <= kAlwaysAllowed) return false;
  if (length > kMaxLength) return true;
  Estimate estimate;
  std::array<uint16_t, 4'096> part;
  for (int from = 0; from < length && estimate.bytes() <= kMaxTree; from += static_cast<int>(part.size())) {
    auto count = std::min<uint32_t>(part.size(), static_cast<uint32_t>(length - from));
    CopyUtf16(isolate, source, static_cast<uint32_t>(from), count, part.data());
    for (uint32_t index = 0; index < count; ++index) estimate.Read(part[index]);
  }
  estimate.EndWord();
  return estimate.bytes() > kMaxTree;
}

}  // namespace selfprof

// Returns whether a text is too long to be compiled, or may take too much memory. False when `source` is no text.
SELFPROF_API bool selfprof_is_too_large_to_compile(v8::Isolate* isolate, selfprof::Handle source) noexcept {
  v8::Local<v8::Value> value = selfprof::FromHandle<v8::Value>(source);
  return value->IsString() && selfprof::IsTooLargeToCompile(isolate, value.As<v8::String>());
}
