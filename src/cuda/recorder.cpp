#include "cuda/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cuda/lowering_choice.hpp"
#include "exec/executable.hpp"
#include "lower/code.hpp"

namespace lockstep::cuda {

namespace {
constexpr std::size_t kBatchBytes = 64 << 10, kBatchCtas = 8;  // that a thread hands on together
constexpr int kLevel = 3;  // Zstandard's: writing must not hold up the program
using CommandKind = trace::Command::Kind;

/// That a kernel is one of our own libraries' (src/libraries), whose times are not those of NVIDIA's.
void remark_library(const std::string& kernel, std::vector<std::string>& remarks) {
  constexpr std::string_view kPrefix = "lockstep_";
  if (!kernel.starts_with(kPrefix)) return;
  const auto end = kernel.find('_', kPrefix.size());
  if (end == std::string::npos) return;
  const std::string library = kernel.substr(kPrefix.size(), end - kPrefix.size());
  remarks.push_back(fmt::format(
      "{}*: kernels of Lockstep's own library in place of NVIDIA's {}; their times are not those of "
      "NVIDIA's kernels",
      kernel.substr(0, end + 1), library == "nccl" ? "NCCL" : "cu" + library));
}

/// Remarks of a kernel's code: lowering's, and how far it is from what ptxas made where the program has that.
std::vector<std::string> code_remarks(const Kernel& kernel, const lower::Code& code) {
  constexpr std::size_t kInstructionBytes = 16;
  std::vector<std::string> remarks = code.remarks();
  remark_library(kernel.name, remarks);
  const CubinKernel* const real = kernel.machine_code();
  if (real == nullptr) return remarks;
  remarks.push_back(
      fmt::format("{}: ptxas made {} bytes of code with {} registers, {} bytes of stack and {} barriers; "
                  "simulated are {} bytes, "
                  "for which {} registers are estimated",
                  kernel.name, real->code_bytes, real->registers, real->stack_bytes, real->barriers,
                  code.size() * kInstructionBytes, code.registers()));
  return remarks;
}

/// What CTAs executed, lowered on the threads that executed them.
class Replayed final : public exec::CtaSink {
 public:
  Replayed(const lower::Code& code, const Dim3& grid, unsigned threads, trace::ChunkTeam& team)
      : team_(team) {
    for (unsigned i = 0; i < threads; ++i) parts_.push_back({lower::Replayer(code, grid), {}, 0, 0});
  }
  void take(unsigned thread, const exec::CtaRecord& record, const std::atomic<bool>& failed) override {
    Part& part = parts_[thread];
    if (part.count == part.ctas.size()) part.ctas.emplace_back();
    trace::CtaTrace& cta = part.ctas[part.count++];
    part.replayer.replay(record, cta);
    part.bytes += trace::counted_bytes(cta.warps.size(), cta.records.size(), cta.words.size());
    if (part.bytes >= kBatchBytes || part.count == kBatchCtas) end(thread, failed);
  }
  void end(unsigned thread, const std::atomic<bool>& failed) override {
    Part& part = parts_[thread];
    team_.add({part.ctas.data(), part.count}, failed);
    part.count = part.bytes = 0;
  }

 private:
  struct Part {  // of a thread
    lower::Replayer replayer;
    std::vector<trace::CtaTrace> ctas;
    std::size_t count, bytes;  // of `ctas` not yet handed on
  };
  std::vector<Part> parts_;
  trace::ChunkTeam& team_;
};

}  // namespace

Recorder::Recorder(const std::string& path, std::unique_ptr<Wire> wire, unsigned devices)
    : path_(path),
      signals_(devices > 1),
      file_(path, kLevel),
      team_(file_, kLevel),
      wire_(std::move(wire)),
      log_(devices) {}

const lower::Code& Recorder::code_of(const Kernel& kernel, unsigned arch) const {
  static const lower::Passes chosen = read_passes();
  lower::Passes passes = chosen;
  passes.signals = records_signals(kernel.executable());
  return kernel.code(arch, passes);
}

void Recorder::add_kernel(const trace::KernelHeader& header, const std::optional<Issue>& issue) {
  if (before_kernel_) before_kernel_(log_);
  const auto stream = static_cast<std::uint32_t>(header.stream);
  trace::Command command{CommandKind::kKernel, 0, 0, kernels_++};
  command.graph_node = issue && issue->as == Issue::As::kGraphBehind;
  if (command.graph_node) {
    log_.called_by(issue->thread);
  } else if (issue) {
    log_.launch_call(issue->thread, log_.device_of(stream));
  }
  log_.add(stream, command);
}

bool Recorder::kernel(exec::Grid& grid, const KernelLaunch& launch, const trace::KernelHeader& header,
                      KernelRecording& recording) {
  if (!write_kernel(grid, launch, header, recording)) return false;
  note_said(*launch.kernel);
  note_listing(launch, header);
  add_kernel(header, recording.issue);
  return true;
}

void Recorder::note_said(const Kernel& kernel) {
  if (const auto& taken = kernel.module->taken()) said_taken_.insert(taken->has_machine_code);
}

bool Recorder::write_at_once(exec::Grid& grid, const lower::Code& code, const trace::KernelHeader& header) {
  team_.begin(header);
  Replayed replayed(code, header.grid, grid.threads(), team_);
  if (grid.run_concurrently(&replayed)) {
    team_.finish();
    return true;
  }
  file_.restart();
  return false;
}

namespace {

/// A machine instruction as traces say it, with the line of the source that its PTX comes from.
trace::TracedInstruction traced_of(const exec::Executable& kernel, const lower::MachineInstruction& i) {
  trace::TracedInstruction traced{i.pc, i.text, i.immediate, {}, 0};
  if (i.operation == lower::kNoOperation) return traced;
  const ptx::SourceLine& source = kernel.instruction(i.operation).source;
  const auto& files = kernel.program().modules[kernel.function_of(i.operation).source->module].files;
  traced.source_line = source.line;
  if (source.line != 0 && source.file < files.size()) traced.source_file = files[source.file];
  return traced;
}

bool has_lines(const exec::Executable& kernel) {
  return std::ranges::any_of(kernel.functions(), [](const exec::FunctionCode& f) {
    return std::ranges::any_of(f.source->instructions,
                               [](const ptx::Instruction& i) { return i.source.line != 0; });
  });
}

}  // namespace

std::vector<std::string> Recorder::remarks_of(const Kernel& kernel, const lower::Code& code) const {
  std::vector<std::string> remarks = code_remarks(kernel, code);
  if (const auto& taken = kernel.module->taken(); taken && !said_taken_.contains(taken->has_machine_code))
    remarks.push_back(remark_on(*taken, kernel.name, kernel.module->limit()));
  std::sort(remarks.begin(), remarks.end());
  return remarks;
}

bool Recorder::write_kernel(exec::Grid& grid, const KernelLaunch& launch, const trace::KernelHeader& header,
                            KernelRecording& recording) {
  const lower::Code& code = code_of(*launch.kernel, header.binary_version);
  trace::KernelHeader numbered = header;
  numbered.id = kernels_ + std::uint64_t{1};
  const exec::Executable& kernel = launch.kernel->executable();
  numbered.line_info = has_lines(kernel);
  bool all = false;
  if (recording.replayer) {
    file_.resume(std::move(recording.file), numbered.id);
  } else {
    file_.begin(numbered);
    all = write_at_once(grid, code, header);
    recording.replayer.emplace(code, header.grid);
  }
  for (std::uint64_t& cta = recording.cta; !all && cta < grid.ctas(); ++cta) {
    if (!grid.run_cta(cta, &executed_)) {
      if (grid.waits()) recording.file = file_.suspend();
      return false;
    }
    recording.replayer->replay(executed_, replayed_);
    file_.add_plain(replayed_);
  }
  const auto& instructions = code.instructions();
  file_.end(
      static_cast<std::uint32_t>(instructions.size()),
      [&](std::uint32_t i) { return traced_of(kernel, instructions[i]); }, remarks_of(*launch.kernel, code));
  return true;
}

void Recorder::finish() {
  send_news(false);  // what the host did last
  const std::uint64_t hash = file_.hash();
  if (kernels_ > 0 || trace::has_host_tasks(log_.commands())) file_.finish(name_, hash, log_.commands());
  if (!wire_) return;
  trace::Bytes content;
  trace::put_text(content, name_);
  trace::put_fixed(content, hash, 8);
  wire_->send(Word::kEnd, content);
  wire_->close();
}

}  // namespace lockstep::cuda
