// Finds the static instruction of a trace line by its text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep::trace {

enum class CallKind : std::uint8_t { kNone, kCall, kReturn };

/// What makes two trace lines the same static instruction.
struct InstructionKey {
  std::uint64_t hash = 0;      // of all of the following but the immediate
  std::uint64_t function = 0;  // CallTracker's key; 0 is the kernel itself
  std::uint32_t pc = 0;        // in its function
  std::string_view text;       // destinations, opcode, sources and width, as printed
  std::int64_t immediate = 0;  // part of the key only for instructions that use it
};

struct InternedInstruction {
  std::uint64_t hash = 0;
  std::uint64_t function = 0;
  std::int64_t immediate = 0;
  std::uint32_t pc = 0;
  std::uint32_t text_offset = 0, text_length = 0;
  std::uint32_t source_line = 0;  // of its first record
  bool uses_immediate = false;    // with another immediate it is another instruction
  bool has_addresses = false;
  bool bulk_fields = false;  // of CtaDecoder::bulk_copy()
  bool known = true;
  CallKind call = CallKind::kNone;
};

/// Open-addressing table over instruction texts. Reading it concurrently is safe while nothing is added.
class InternTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }
  [[nodiscard]] const InternedInstruction& operator[](std::uint32_t i) const { return entries_[i]; }
  [[nodiscard]] const char* text(const InternedInstruction& entry) const {
    return texts_.data() + entry.text_offset;
  }
  [[nodiscard]] InstructionKey key(std::uint32_t i) const;

  [[nodiscard]] std::uint32_t find(const InstructionKey& key) const;
  /// Adds `key`, which must not be there, with the flags of `entry`; gives its index. Throws
  /// std::length_error past 4 GiB of text.
  std::uint32_t add(const InstructionKey& key, InternedInstruction entry);
  /// Keeps the memory.
  void clear();

 private:
  [[nodiscard]] std::uint32_t probe(const InstructionKey& key, std::uint64_t hash, bool with_immediate) const;
  void link(std::uint64_t hash, std::uint32_t index);
  void grow();

  std::vector<InternedInstruction> entries_;
  std::vector<char> texts_;
  std::vector<std::uint32_t> buckets_;  // entry index + 1; 0 is free; size a power of two
};

[[nodiscard]] std::uint64_t key_hash(std::uint64_t function, std::uint32_t pc, std::string_view text);

}  // namespace lockstep::trace
