// The directory and the instruction tables of a compact trace; see docs/trace-format.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/compact_blocks.hpp"
#include "trace/compact_bytes.hpp"
#include "trace/kernel_size.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

struct ChunkEntry {
  std::uint64_t offset = 0;  // of its block in the file
  std::uint64_t ctas = 0;
};

struct KernelEntry {
  KernelHeader header;
  std::vector<std::string> remarks;  // those of the trace's own text
  std::uint64_t table = 0;           // offset of the block of its instruction table
  std::vector<ChunkEntry> chunks;
  std::optional<KernelSize> size;  // nothing in files of a version before kSizeVersion
};

struct CompactDirectory {
  std::string name;  // TraceSet::name() and content_hash() of what was converted
  std::uint64_t hash = 0;
  std::vector<Command> commands;
  std::vector<KernelEntry> kernels;
};

/// `version`: of the format. Without a size no more is written than versions before kSizeVersion say.
void encode_kernel(const KernelEntry& kernel, Bytes& out, std::uint32_t version = kLastVersion);
/// Throws BrokenBlock.
[[nodiscard]] KernelEntry decode_kernel(ByteReader& in, std::uint32_t version = kLastVersion);
void encode_command(const Command& command, Bytes& out);
/// `kernels`, `events`: how many there are before it. Throws BrokenBlock.
[[nodiscard]] Command decode_command(ByteReader& in, std::uint64_t kernels, std::uint64_t events);

/// The lowest version of the format that says what the directory does.
[[nodiscard]] std::uint32_t version_of(const CompactDirectory& directory);

void encode_directory(const CompactDirectory& directory, Bytes& out);
/// `version`: the file's. Throws BrokenBlock.
[[nodiscard]] CompactDirectory decode_directory(std::span<const std::uint8_t> bytes, std::uint32_t version);

/// The texts that a table was decoded from.
struct TracedTable {
  struct Entry {
    std::uint32_t pc = 0, text = 0;  // index of texts
    std::int64_t immediate = 0;
    std::uint32_t file = 0,
                  line = 0;  // of the source: 1 + index of files (0: not known); 0 if there is none
  };
  std::vector<std::string> texts;  // each once
  std::vector<std::string> files;  // likewise
  std::vector<Entry> entries;
  [[nodiscard]] TracedInstruction operator[](std::uint32_t i) const {
    const Entry& e = entries[i];
    return {e.pc, texts[e.text], e.immediate, e.file == 0 ? std::string_view() : files[e.file - 1], e.line};
  }
};

/// `size` instructions; the text of traced(i) need only be good until its next call.
void encode_table(std::uint32_t size, const std::function<TracedInstruction(std::uint32_t)>& traced,
                  Bytes& out);
/// Throws BrokenBlock.
[[nodiscard]] TracedTable decode_table(std::span<const std::uint8_t> bytes);

}  // namespace lockstep::trace
