#include "exec/executable.hpp"

#include <algorithm>

#include "exec/decode.hpp"

namespace lockstep::exec {

Executable::Executable(const ProgramImage& image, std::uint32_t entry) : image_(image) {
  Decoder(image, entry, code_).run();
}
Executable::~Executable() = default;

const std::string& Executable::name() const { return code_.functions.front().source->name; }

const FunctionCode& Executable::function_of(std::uint32_t operation) const {
  auto after = std::upper_bound(code_.functions.begin(), code_.functions.end(), operation,
                                [](std::uint32_t at, const FunctionCode& f) { return at < f.first; });
  return *std::prev(after);
}

const ptx::Instruction& Executable::instruction(std::uint32_t operation) const {
  const FunctionCode& function = function_of(operation);
  return function.source->instructions[operation - function.first];
}

std::uint32_t Executable::function_at(Address address) const {
  const std::uint64_t id = (address - kCodeWindow) >> kCodeAddressShift;
  const bool whole = (address & ((1u << kCodeAddressShift) - 1)) == 0;
  return whole && address >= kCodeWindow && id < code_.by_id.size() ? code_.by_id[id] : ~0u;
}

}  // namespace lockstep::exec
