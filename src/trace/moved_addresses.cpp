#include "trace/moved_addresses.hpp"

#include "trace/address_windows.hpp"

namespace lockstep::trace {
bool is_global(const StaticInst& inst, Address first, const KernelHeader& header) {
  if (inst.space == MemSpace::kGlobal || inst.space == MemSpace::kTexture) return true;
  return inst.space == MemSpace::kGeneric && !in_shared_window(first, header) &&
         !in_local_window(first, header);
}

void move_addresses(CtaTrace& cta, const StaticTable& table, const KernelHeader& header, Address region) {
  for (const WarpSpan& warp : cta.warps) {
    std::uint64_t* words = cta.words.data() + warp.first_word;
    for (std::uint32_t i = 0; i < warp.record_count; ++i) {
      const Record& record = cta.records[warp.first_record + i];
      const unsigned count = address_words(record.form(), record.mask);
      const StaticInst& inst = table[record.inst()];
      if (count > 0 && (inst.space == MemSpace::kConstant || is_global(inst, words[0], header))) {
        const unsigned bases = record.form() == AddressForm::kList ? count : 1;
        for (unsigned w = 0; w < bases; ++w) words[w] = moved(words[w], region);
      }
      words += count;
    }
  }
}

}  // namespace lockstep::trace
