// PTX with one instruction changed: lowered to machine code, or refused with a UserError.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "exec/executable.hpp"
#include "exec/image.hpp"
#include "lower/code.hpp"
#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "tests/fuzz/support/ptx_change.hpp"
#include "util/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  fuzz::Choices choices(data, size);
  constexpr unsigned kArchs[] = {70, 75, 80, 86, 90, 100};
  const unsigned arch = kArchs[choices.below(std::size(kArchs))];
  try {
    std::vector<ptx::Module> modules;
    modules.push_back(ptx::parse(fuzz::changed_ptx(choices), "fuzz"));
    const ptx::Program program = ptx::link(std::move(modules));
    exec::DeviceMemory memory(std::uint64_t{1} << 28);
    const exec::ProgramImage image(program, memory);
    for (std::uint32_t f = 0; f < program.functions.size(); ++f) {
      if (!program.functions[f].entry || !program.functions[f].has_body) continue;
      const exec::Executable kernel(image, f);
      if (lower::Code(kernel, arch, {}).instructions().empty()) __builtin_trap();
    }
  } catch (const UserError&) {
  }
  return 0;
}
