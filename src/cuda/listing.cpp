#include "cuda/listing.hpp"

#include "ptx/print_statement.hpp"

namespace lockstep::cuda {

Listing list_ptx(const exec::Executable& kernel, const lower::Code& code) {
  Listing listing;
  for (const lower::MachineInstruction& i : code.instructions()) {
    if (i.operation == lower::kNoOperation) continue;
    const ptx::Function& function = *kernel.function_of(i.operation).source;
    listing.push_back({i.pc, {}});
    ptx::StatementPrinter(kernel.program(), &function, listing.back().ptx)
        .instruction(kernel.instruction(i.operation));
  }
  return listing;
}

void encode_listing(const Listing& listing, trace::Bytes& to) {
  trace::put_varint(to, listing.size());
  for (const ListedInstruction& i : listing) {
    trace::put_varint(to, i.pc);
    trace::put_text(to, i.ptx);
  }
}

Listing decode_listing(trace::ByteReader& in) {
  Listing listing;
  for (std::uint64_t left = in.varint(); left > 0; --left) {
    const auto pc = static_cast<std::uint32_t>(in.varint());
    listing.push_back({pc, in.text()});
  }
  return listing;
}

}  // namespace lockstep::cuda
