#include "cuda/recorder.hpp"

#include "lower/replay.hpp"

namespace lockstep::cuda {

namespace {
constexpr int kLevel = 3;  // Zstandard's: writing must not hold up the program
using Kind = trace::Command::Kind;
}  // namespace

Recorder::Recorder(std::string path) : file_(std::move(path), kLevel) {}

const lower::Code& Recorder::code_of(const Kernel& kernel, unsigned arch) {
  auto& code = codes_[&kernel];
  if (!code) code = std::make_unique<lower::Code>(kernel.executable(), arch);
  return *code;
}

bool Recorder::kernel(exec::Grid& grid, const KernelLaunch& launch, const trace::KernelHeader& header) {
  const lower::Code& code = code_of(*launch.kernel, header.binary_version);
  trace::KernelHeader numbered = header;
  numbered.id = ++kernels_;
  file_.begin(numbered);
  for (std::uint64_t cta = 0; cta < grid.ctas(); ++cta) {
    if (!grid.run_cta(cta, &executed_)) return false;
    lower::replay(code, executed_, header.grid, replayed_);
    file_.add(replayed_);
  }
  const auto& instructions = code.instructions();
  file_.end(
      static_cast<std::uint32_t>(instructions.size()),
      [&](std::uint32_t i) {
        return trace::TracedInstruction{instructions[i].pc, instructions[i].text, instructions[i].immediate};
      },
      code.remarks());
  commands_.push_back({Kind::kKernel, 0, 0, kernels_ - 1});
  return true;
}

void Recorder::copy_to_device(Address to, std::uint64_t bytes) {
  commands_.push_back({Kind::kCopyToDevice, to, bytes, 0});
}
void Recorder::copy_to_host(Address from, std::uint64_t bytes) {
  commands_.push_back({Kind::kCopyToHost, from, bytes, 0});
}

void Recorder::wait() {
  if (!commands_.empty() && commands_.back().kind != Kind::kWait) commands_.push_back({Kind::kWait, 0, 0, 0});
}

void Recorder::finish(const std::string& name) {
  if (kernels_ > 0) file_.finish(name, file_.hash(), commands_);
}

}  // namespace lockstep::cuda
