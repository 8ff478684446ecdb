// PTX with one instruction changed: executed for a while, or refused with a UserError, or ended by a fault of
// the device.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "exec/executable.hpp"
#include "exec/image.hpp"
#include "exec/launch.hpp"
#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "tests/fuzz/support/ptx_change.hpp"
#include "util/error.hpp"

namespace {

using namespace lockstep;

void execute(const exec::ProgramImage& image, std::uint32_t function, exec::DeviceMemory& memory) {
  constexpr std::uint64_t kBuffer = 1 << 16, kMaxInstructions = 2000;
  const exec::Executable kernel(image, function);
  const Address buffer = memory.allocate(kBuffer).value();
  std::vector<std::byte> parameters((kernel.parameter_bytes() + 7) / 8 * 8);
  for (std::size_t at = 0; at < parameters.size(); at += 8) std::memcpy(parameters.data() + at, &buffer, 8);
  exec::Launch launch;
  launch.kernel = &kernel;
  launch.grid = {2, 1, 1};
  launch.block = {64, 1, 1};
  launch.dynamic_shared_bytes = 1024;
  launch.parameters = parameters;
  exec::RunOptions options;
  options.max_instructions = kMaxInstructions;
  try {
    (void)exec::run(launch, memory, options);
  } catch (const exec::DeviceFault&) {
  }
  (void)memory.release(buffer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Choices choices(data, size);
  try {
    std::vector<ptx::Module> modules;
    modules.push_back(ptx::parse(fuzz::changed_ptx(choices), "fuzz"));
    const ptx::Program program = ptx::link(std::move(modules));
    exec::DeviceMemory memory(std::uint64_t{1} << 28);
    const exec::ProgramImage image(program, memory);
    for (std::uint32_t f = 0; f < program.functions.size(); ++f)
      if (program.functions[f].entry && program.functions[f].has_body) execute(image, f, memory);
  } catch (const UserError&) {
  }
  return 0;
}
