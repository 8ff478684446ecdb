// Programs of several devices that share managed pages.
#pragma once

#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "managed_support.hpp"
#include "uvm/managed_command.hpp"

namespace lockstep::test {

inline constexpr std::uint64_t kPage = uvm::kPageBytes;
inline constexpr std::uint64_t kSharedBytes = 6 << 20;  // of the allocation at kBase

struct Touch {
  Address address;
  bool write = false;
};

/// Kernels of one warp, whose accesses wait for one another, and the commands that are to be simulated.
class Listed final : public trace::TraceSet {
 public:
  explicit Listed(const std::vector<std::vector<Touch>>& kernels) {
    std::ofstream list(folder_.path() / "kernelslist.g");
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const std::string name = "kernel-" + std::to_string(k + 1) + ".traceg";
      list << name << "\n";
      write(folder_.path() / name, k + 1, kernels[k]);
    }
    list.close();
    trace_ = trace::open_trace(folder_.path().string());
    add(trace::Command::Kind::kManage, kBase, kSharedBytes);
  }

  trace::Command& add(trace::Command::Kind kind, Address address = 0, std::uint64_t bytes = 0) {
    trace::Command& c = commands_.emplace_back();
    c.kind = kind;
    c.address = address;
    c.bytes = bytes;
    return c;
  }
  Listed& run(std::uint16_t device, std::uint32_t kernel) {
    trace::Command& c = add(trace::Command::Kind::kKernel);
    c.device = device;
    c.kernel = kernel;
    return *this;
  }
  /// One after the other.
  Listed& then(std::uint16_t device, std::uint32_t kernel) {
    wait();
    return run(device, kernel);
  }
  Listed& wait() {
    add(trace::Command::Kind::kWait);
    return *this;
  }
  Listed& prefetch(std::uint16_t device, std::uint64_t bytes, Address address = kBase) {
    add(trace::Command::Kind::kPrefetch, address, bytes).place = device;
    return *this;
  }
  Listed& advise(uvm::Advice advice, std::uint16_t device, std::uint64_t bytes = kSharedBytes) {
    trace::Command& c = add(trace::Command::Kind::kAdvise, kBase, bytes);
    c.advice = static_cast<std::uint8_t>(advice);
    c.place = device;
    return *this;
  }

  [[nodiscard]] const std::string& name() const override { return trace_->name(); }
  [[nodiscard]] std::uint64_t content_hash() const override { return trace_->content_hash(); }
  [[nodiscard]] const std::vector<trace::Command>& commands() const override { return commands_; }
  [[nodiscard]] const std::vector<trace::KernelHeader>& kernels() const override { return trace_->kernels(); }
  [[nodiscard]] std::unique_ptr<trace::CtaFeed> open(std::uint32_t index) const override {
    return trace_->open(index);
  }

 private:
  static void write(const std::filesystem::path& path, std::size_t id, const std::vector<Touch>& touches) {
    std::ofstream out(path);
    out << "-kernel name = touch" << id << "\n-kernel id = " << id
        << "\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 32\n-binary version = 80\n"
           "-cuda stream id = 0\n-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n-nvbit version = 1.7\n"
           "-accelsim tracer version = 3\n\n#traces format = PC mask dest_num [reg_dests] opcode src_num "
           "[reg_srcs] mem_width [adrrescompress?] [mem_addresses]\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\n"
           "warp = 0\ninsts = "
        << touches.size() + 1 << "\n"
        << std::hex;
    std::uint32_t pc = 0x10;
    for (const Touch& t : touches) {
      out << pc << " ffffffff " << (t.write ? "0 STG.E 2 R4 R5" : "1 R4 LDG.E 1 R4") << " 4 1 0x" << t.address
          << " 4\n";
      pc += 0x10;
    }
    out << pc << " ffffffff 0 EXIT 0 0\n\n#END_TB\n";
  }

  TemporaryFolder folder_;
  std::unique_ptr<trace::TraceSet> trace_;
  std::vector<trace::Command> commands_;
};

/// Pages [0, count) of the allocation, one access each.
[[nodiscard]] inline std::vector<Touch> pages(unsigned count, bool write = false) {
  std::vector<Touch> touches;
  for (unsigned p = 0; p < count; ++p) touches.push_back({kBase + p * kPage, write});
  return touches;
}

/// Small devices with a quick driver, so that every cycle may be visited.
[[nodiscard]] inline config::SystemConfig small_machine(std::uint32_t devices,
                                                        const std::string& name = "dgx_a100") {
  config::SystemConfig system = config::resolve_system(name, devices);
  for (config::GpuConfig& device : system.devices) {
    device.gpu.sms = 4;
    device.gpu.gpcs = 2;
    device.l2.partitions = 4;
    uvm::Parameters& p = device.uvm;
    p.interrupt_ns = p.batch_ns = p.block_ns = p.host_fault_ns = p.evict_ns = 500;
    p.advise_ns = p.prefetch_ns = 200;
    p.kib_ps = 500;
  }
  return system;
}

/// Devices that want the same pages at once, in every way.
[[nodiscard]] inline std::unique_ptr<Listed> crowd(std::uint16_t devices) {
  auto made = std::make_unique<Listed>(std::vector<std::vector<Touch>>{
      pages(12, true), pages(16), {{kBase + (2 << 20), true}, {kBase + (3 << 20), true}}});
  Listed& trace = *made;
  trace.advise(uvm::Advice::kSetReadMostly, 0, 8 * kPage);
  trace.add(trace::Command::Kind::kAdvise, kBase + (3 << 20), 1 << 20).advice =
      static_cast<std::uint8_t>(uvm::Advice::kSetPreferredLocation);
  trace.add(trace::Command::Kind::kAdvise, kBase + 8 * kPage, 4 * kPage).advice =
      static_cast<std::uint8_t>(uvm::Advice::kSetAccessedBy);
  for (const std::uint32_t kernel : {1u, 0u, 2u, 1u})
    for (std::uint16_t d = 0; d < devices; ++d) trace.run(d, kernel);
  trace.prefetch(1, 1 << 20).run(0, 2).run(1, 0).wait();
  trace.add(trace::Command::Kind::kHostAccess, kBase, 16 * kPage).write = true;
  for (std::uint16_t d = 0; d < devices; ++d) trace.run(d, d % 2);
  trace.wait();
  trace.add(trace::Command::Kind::kRelease, kBase, kSharedBytes);
  return made;
}

/// Kernels, prefetches, advice and accesses of the host in any order.
[[nodiscard]] inline std::unique_ptr<Listed> any_program(std::mt19937& random, std::uint16_t devices) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::vector<std::vector<Touch>> kernels(4);
  for (auto& touches : kernels)
    for (unsigned i = 0; i < 16; ++i)
      touches.push_back({kBase + (below(3) * 512 + below(12)) * kPage + below(2) * 128, below(3) == 0});
  auto made = std::make_unique<Listed>(kernels);
  for (unsigned i = 0; i < 40; ++i) {
    const auto device = static_cast<std::uint16_t>(below(devices));
    const Address address = kBase + (below(3) * 512 + below(8)) * kPage;
    const std::uint64_t bytes = (1 + below(8)) * kPage;
    switch (below(8)) {
      case 0: {
        trace::Command& advice = made->add(trace::Command::Kind::kAdvise, address, bytes);
        advice.advice = static_cast<std::uint8_t>(1 + below(6));
        advice.place = device;
        advice.host = below(4) == 0;
        break;
      }
      case 1:
        made->add(trace::Command::Kind::kPrefetch, address, bytes).place = device;
        break;
      case 2:
        made->add(trace::Command::Kind::kPrefetch, address, bytes).host = true;
        break;
      case 3:
        made->add(trace::Command::Kind::kHostAccess, address, bytes).write = below(2) == 0;
        break;
      case 4: {
        trace::Command& fill = made->add(trace::Command::Kind::kDeviceAccess, address, bytes);
        fill.device = device;
        fill.write = below(2) == 0;
        break;
      }
      case 5:
        made->wait();
        break;
      default:
        made->run(device, below(4));
    }
  }
  made->wait().add(trace::Command::Kind::kRelease, kBase, kSharedBytes);
  return made;
}

}  // namespace lockstep::test
