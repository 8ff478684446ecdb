// The content of a compact trace's blocks, behind their checksums: read or refused with a BrokenBlock.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "trace/compact_blocks.hpp"
#include "trace/compact_chunk.hpp"
#include "trace/compact_directory.hpp"
#include "trace/traced_instruction.hpp"

namespace {

using namespace lockstep::trace;

void touch_addresses(const CtaTrace& cta) {
  for (const auto& warp : cta.warps) {
    std::uint32_t word = warp.first_word;
    for (std::uint32_t i = 0; i < warp.record_count; ++i) {
      const Record& record = cta.records[warp.first_record + i];
      lockstep::Address lanes[lockstep::kWarpSize];
      expand_addresses(record.form(), record.mask, cta.words.data() + word, lanes);
      word += address_words(record.form(), record.mask);
    }
  }
}

void decode_chunk(std::span<const std::uint8_t> bytes) {
  KernelHeader header;
  header.grid = {4, 1, 1};
  header.block = {80, 1, 1};
  StaticTable table;
  std::uint32_t pc = 0;
  for (const std::string_view text : {"1 R2 MOV 0 0", "1 R4 LDG.E 1 R8 4", "0 STG.E 2 R4 R2 4", "0 EXIT 0 0"})
    table.push(decode_traced({pc += 16, text, 0}, 70));
  std::vector<CtaTrace> ctas(4);
  std::vector<CtaTrace*> out;
  for (CtaTrace& cta : ctas) out.push_back(&cta);
  ChunkDecoder().decode({header, 0}, table, bytes, out);
  for (const CtaTrace& cta : ctas) touch_addresses(cta);
}

void decode_instructions(std::span<const std::uint8_t> bytes) {
  const TracedTable table = decode_table(bytes);
  for (std::uint32_t i = 0; i < table.entries.size(); ++i) {
    try {
      (void)decode_traced(table[i], 70);
    } catch (const std::invalid_argument&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  try {
    if (data[0] % 3 == 0) decode_chunk(bytes);
    if (data[0] % 3 == 1) decode_instructions(bytes);
    if (data[0] % 3 == 2) (void)decode_directory(bytes, data[0] < 128 ? kDeviceVersion : kHostVersion);
  } catch (const BrokenBlock&) {
  }
  return 0;
}
