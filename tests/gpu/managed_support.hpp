// Managed memory in tests of the whole machine: small traces, UVMSmart's machine, options.
#pragma once

#include <fstream>

#include "end_to_end.hpp"
#include "run_ways.hpp"
#include "uvm/evictor.hpp"
#include "uvm/prefetcher.hpp"

namespace lockstep::test {

using CommandKind = trace::Command::Kind;

inline constexpr Address kBase = 0x7f8000000000;

/// Loads from random places of 256 KB.
inline const SmallTrace kSmallRandom{
    "random", "random", {{"ctas", "2"}, {"threads", "32"}, {"loads", "1"}, {"footprint", "262144"}}};
inline constexpr const char* kTable = "0x7fa000000000+256KiB";

/// A kernel of CTAs of one warp whose loads wait for one another, behind a copy of 64 KB, which fills the L2.
class LoadChain {
 public:
  /// The loads of each CTA.
  struct Ctas {
    std::vector<std::vector<Address>> loads;
  };
  explicit LoadChain(const std::vector<Address>& addresses, Address copied = kBase)
      : LoadChain(Ctas{{addresses}}, copied) {}
  explicit LoadChain(const Ctas& ctas, Address copied = kBase) {
    const auto path = folder_.path();
    std::ofstream(path / "kernelslist.g")
        << "MemcpyHtoD,0x" << std::hex << copied << std::dec << ",65536\nkernel-1.traceg\n";
    std::ofstream out(path / "kernel-1.traceg");
    out << "-kernel name = chain\n-kernel id = 1\n-grid dim = (" << ctas.loads.size()
        << ",1,1)\n-block dim = (32,1,1)\n-shmem = 0\n"
           "-nregs = 32\n-binary version = 61\n-cuda stream id = 0\n-shmem base_addr = 0x0\n"
           "-local mem base_addr = 0x0\n-nvbit version = 1.7\n-accelsim tracer version = 3\n\n"
           "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
           "[adrrescompress?] "
           "[mem_addresses]\n";
    for (std::size_t cta = 0; cta < ctas.loads.size(); ++cta) write_cta(out, cta, ctas.loads[cta]);
    out.close();
    trace_ = trace::open_trace(path.string());
  }
  [[nodiscard]] const trace::TraceSet& operator*() const { return *trace_; }

 private:
  static void write_cta(std::ofstream& out, std::size_t cta, const std::vector<Address>& addresses) {
    out << "\n#BEGIN_TB\n\nthread block = " << cta << ",0,0\n\nwarp = 0\ninsts = " << addresses.size() + 1
        << "\n"
        << std::hex;
    std::uint32_t pc = 0x10;
    for (const Address a : addresses) {
      out << pc << " ffffffff 1 R4 LDG.E 1 R4 4 1 0x" << a << " 4\n";
      pc += 0x10;
    }
    out << pc << std::dec << " ffffffff 0 EXIT 0 0\n\n#END_TB\n";
  }

  TemporaryFolder folder_;
  std::unique_ptr<trace::TraceSet> trace_;
};

/// A trace with commands of the host before its kernels, and behind them.
class WithCommands final : public trace::TraceSet {
 public:
  WithCommands(const trace::TraceSet& trace, const std::vector<trace::Command>& before,
               const std::vector<trace::Command>& behind = {})
      : trace_(&trace), all_(before) {
    all_.insert(all_.end(), trace.commands().begin(), trace.commands().end());
    all_.insert(all_.end(), behind.begin(), behind.end());
  }
  [[nodiscard]] const std::string& name() const override { return trace_->name(); }
  [[nodiscard]] std::uint64_t content_hash() const override { return trace_->content_hash(); }
  [[nodiscard]] const std::vector<trace::Command>& commands() const override { return all_; }
  [[nodiscard]] const std::vector<trace::KernelHeader>& kernels() const override { return trace_->kernels(); }
  [[nodiscard]] std::unique_ptr<trace::CtaFeed> open(std::uint32_t index) const override {
    return trace_->open(index);
  }

 private:
  const trace::TraceSet* trace_;
  std::vector<trace::Command> all_;
};

/// UVMSmart's settings on a small GPU with one clock of 1481 MHz, so that nothing depends on phases, and with
/// all code in the instruction caches, so that no read-ahead of code is what a kernel ends with.
inline config::GpuConfig smart_gpu(const std::vector<std::string>& more = {}) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "gpu.ini").string();
  std::ofstream(file) << "include = gtx1080ti\ninclude = uvmsmart\n";
  std::vector<std::string> set = {"clock.core_khz=1481000", "clock.icnt_khz=1481000", "clock.l2_khz=1481000",
                                  "frontend.launch_prefetch=8KiB"};
  set.insert(set.end(), more.begin(), more.end());
  config::GpuConfig config = config::resolve(file, set);
  config.gpu.sms = 4;
  config.gpu.gpcs = 2;
  return config;
}

inline gpu::RunOptions managed_options(const config::GpuConfig& config, const char* managed,
                                       const char* memory = "") {
  gpu::RunOptions options;
  options.config = config;
  options.managed = gpu::parse_managed(managed);
  if (*memory) options.managed.memory = gpu::parse_gpu_memory(memory);
  return options;
}

inline const uvm::RunCounters& counters(const gpu::RunResult& result) {
  return result.report.managed->counters;
}

inline constexpr Way kWays[] = {{1, 1, true, true, true},  {2, 1, false, false, false},
                                {2, 0, true, true, false}, {3, 2, true, false, true},
                                {3, 0, false, true, true}, {4, 0, true, true, true}};

/// All statistics of a run in that way.
inline std::string bytes_of(const trace::TraceSet& trace, gpu::RunOptions options, bool smart,
                            const Way& way) {
  options.threads = way.threads;
  options.window = smart && way.window > 1 ? 1 : way.window;
  options.skip = way.skip;
  options.schedule = way.dynamic ? gpu::Schedule::kDynamic : gpu::Schedule::kStatic;
  if (way.shuffle) options.shuffle = 42;
  options.interval = 1000;
  options.timeline = true;
  const auto result = gpu::simulate(trace, options);
  if (result.outcome != gpu::Outcome::kDone) return "not done";
  return stats::to_json(result.report) + stats::intervals_csv(result.report) + result.timeline;
}

}  // namespace lockstep::test
