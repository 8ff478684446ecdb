#include "lockstep/trace_builder.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "api/guarded.hpp"
#include "api/trace.hpp"
#include "synth/trace_folder.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxRegisters = 255;  // R0 to R254, and RZ
constexpr unsigned kMaxBytes = 16;  // of a lane's access

std::uint8_t register_of(int number, const Instruction& inst) {
  if (number < 0 || number > kMaxRegisters)
    throw UserError(
        fmt::format("{}: found register {}, expected 0 to {}", inst.opcode, number, kMaxRegisters));
  return static_cast<std::uint8_t>(number);
}

synth::Access access_of(const Instruction& inst, LaneMask lanes) {
  if (inst.access_bytes > kMaxBytes)
    throw UserError(fmt::format("{}: found an access of {} bytes, expected at most {}", inst.opcode,
                                inst.access_bytes, kMaxBytes));
  if (inst.access_bytes == 0) return {};
  if (inst.addresses.empty()) return synth::strided(inst.access_bytes, inst.base, inst.stride);
  const auto active = static_cast<std::size_t>(std::popcount(lanes));
  if (inst.addresses.size() != active)
    throw UserError(fmt::format("{}: found {} addresses, expected one for each of {} active lanes",
                                inst.opcode, inst.addresses.size(), active));
  return synth::listed(inst.access_bytes, inst.addresses);
}

void emit(const Instruction& inst, synth::WarpText& warp) {
  if (inst.opcode.empty() || inst.opcode.find_first_of(" \t\r\n") != std::string::npos)
    throw UserError(fmt::format("found opcode '{}', expected one word", inst.opcode));
  synth::Line line;
  line.opcode = inst.opcode;
  if (inst.destination) line.to = register_of(*inst.destination, inst);
  if (inst.sources.size() > line.from.reg.size())
    throw UserError(fmt::format("{}: found {} source registers, expected at most {}", inst.opcode,
                                inst.sources.size(), line.from.reg.size()));
  for (const int source : inst.sources) line.from.reg.at(line.from.size++) = register_of(source, inst);
  line.mask = inst.lanes.value_or(warp.live());
  line.access = access_of(inst, *line.mask);
  line.immediate = inst.immediate;
  if (inst.pc) warp.jump(*inst.pc);
  warp.emit(line);
}

void write_ctas(const trace::KernelHeader& header, const TraceBuilder::Code& code, synth::KernelFile& file) {
  std::vector<Instruction> instructions;
  for (std::uint32_t z = 0; z < header.grid.z; ++z)
    for (std::uint32_t y = 0; y < header.grid.y; ++y)
      for (std::uint32_t x = 0; x < header.grid.x; ++x) {
        file.begin_cta({x, y, z});
        for (std::uint32_t w = 0; w < header.warps_per_cta(); ++w) {
          instructions.clear();
          code({{x, y, z}, w}, instructions);
          synth::WarpText& text = file.begin_warp(w);
          for (const Instruction& inst : instructions) emit(inst, text);
        }
        file.end_cta();
      }
}

Dim3 dim(const std::array<std::uint32_t, 3>& size) { return {size[0], size[1], size[2]}; }

}  // namespace

struct TraceBuilder::Folder {
  /// A folder that goes with its owner.
  class Files {
   public:
    Files() {
      std::error_code error;
      std::string path = (fs::temp_directory_path(error) / "lockstep-XXXXXX").string();
      if (error || mkdtemp(path.data()) == nullptr) throw UserError("cannot make a folder like " + path);
      path_ = path;
    }
    ~Files() {
      std::error_code ignored;
      fs::remove_all(path_, ignored);
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

   private:
    std::string path_;
  };

  explicit Folder(unsigned sm)
      : files(std::make_shared<Files>()), folder(files->path(), {.binary_version = sm}), architecture(sm) {}
  std::shared_ptr<Files> files;
  synth::TraceFolder folder;
  unsigned architecture;
  std::uint64_t kernels = 0;
};

TraceBuilder::TraceBuilder(unsigned architecture)
    : folder_(guarded([&] { return std::make_unique<Folder>(architecture); })) {}
TraceBuilder::~TraceBuilder() = default;

void TraceBuilder::copy_to_device(std::uint64_t address, std::uint64_t bytes) {
  folder_->folder.copy_to_device(address, bytes);
}

void TraceBuilder::kernel(const Launch& launch, const Code& code) {
  guarded([&] {
    if (launch.name.find('\n') != std::string::npos)
      throw UserError(fmt::format("kernel {}: expected a name of one line", folder_->kernels + 1));
    trace::KernelHeader header;
    header.name = launch.name;
    header.id = folder_->kernels + 1;
    header.grid = dim(launch.grid);
    header.block = dim(launch.block);
    header.shared_bytes = launch.shared_bytes;
    header.registers = launch.registers;
    header.stream = launch.stream;
    if (header.grid.count() == 0 || header.block.count() == 0 || header.block.count() > 1024)
      throw UserError(launch.name + ": expected a grid of CTAs and a block of 1 to 1024 threads");
    synth::KernelFile file = folder_->folder.kernel(header);
    try {
      write_ctas(header, code, file);
    } catch (...) {
      folder_->folder.drop_last_kernel();
      throw;
    }
    file.close();
    ++folder_->kernels;
  });
}

Trace TraceBuilder::finish() {
  return guarded([&] {
    if (folder_->kernels == 0) throw UserError("a trace without a kernel");
    folder_->folder.close();
    auto content = std::make_shared<Trace::Content>();
    content->files = folder_->files;
    content->trace = trace::open_trace(folder_->files->path());
    folder_ = std::make_unique<Folder>(folder_->architecture);
    return Trace(std::move(content));
  });
}

}  // namespace lockstep
