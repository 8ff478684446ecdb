// Small programs that use the network: kernels written by hand, and the operations that they ask for.
#pragma once

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "../gpu/end_to_end.hpp"
#include "config/system_config.hpp"
#include "gpu/simulation.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::test {

/// A trace whose kernels come in phases: commands, as many kernels, a wait, and so on.
class PhasedTrace final : public trace::TraceSet {
 public:
  PhasedTrace(const trace::TraceSet& trace, const std::vector<std::vector<trace::Command>>& phases)
      : trace_(&trace) {
    const std::vector<trace::Command>& kernels = trace.commands();
    const std::size_t each = kernels.size() / phases.size();
    for (std::size_t p = 0; p < phases.size(); ++p) {
      if (p > 0) commands_.emplace_back().kind = trace::Command::Kind::kWait;
      commands_.insert(commands_.end(), phases[p].begin(), phases[p].end());
      for (std::size_t k = p * each; k < (p + 1) * each; ++k) commands_.push_back(kernels[k]);
    }
  }
  [[nodiscard]] const std::string& name() const override { return trace_->name(); }
  [[nodiscard]] std::uint64_t content_hash() const override { return trace_->content_hash(); }
  [[nodiscard]] const std::vector<trace::Command>& commands() const override { return commands_; }
  [[nodiscard]] const std::vector<trace::KernelHeader>& kernels() const override { return trace_->kernels(); }
  [[nodiscard]] std::unique_ptr<trace::CtaFeed> open(std::uint32_t index) const override {
    return trace_->open(index);
  }

 private:
  const trace::TraceSet* trace_;
  std::vector<trace::Command> commands_;
};

/// One warp on each of some devices at a time, and what their queues have. Each device's memory is 4 GiB from
/// its base on.
class NetScenario {
 public:
  explicit NetScenario(std::uint16_t devices = 2, std::uint32_t entries = 64)
      : devices_(devices), entries_(entries) {
    next_phase();
    operations_.resize(devices);
    for (std::uint16_t d = 0; d < devices; ++d) {
      place(d);
      give_memory(d, 0);
    }
  }
  void place(std::uint16_t device) {
    trace::Command place;
    place.kind = trace::Command::Kind::kPlace;
    place.device = device;
    place.address = base(device);
    place.bytes = std::uint64_t{4} << 30;
    phases_.back().push_back(place);
  }
  /// What follows is for further kernels, when all before has ended.
  void next_phase() {
    phases_.emplace_back();
    instructions_.insert(instructions_.end(), devices_, {});
  }
  static Address base(std::uint16_t device) { return Address{device + 1u} << 40; }
  static Address data(std::uint16_t device) { return base(device) + (std::uint64_t{1} << 30); }
  static Address word(std::uint16_t device, unsigned number) { return base(device) + 0x10000 + number * 128; }
  /// Queue `number` of a device.
  Address entry(std::uint16_t device, std::uint32_t number, std::uint64_t operation) const {
    return base(device) + kQueues + number * kQueueStride + operation % entries_ * trace::kNetEntryBytes;
  }
  Address index(std::uint16_t device, std::uint32_t number) const {
    return base(device) + kQueues + number * kQueueStride + kQueueStride - 128;
  }

  void sleep(std::uint16_t device, int nanoseconds) {
    add(device, "ffffffff 0 NANOSLEEP 0 0 " + std::to_string(nanoseconds));
  }
  void fence(std::uint16_t device) { add(device, "ffffffff 0 MEMBAR.SC.GPU 0 0"); }
  void signal(std::uint16_t device, Address at) {
    add(device, "00000001 0 ST.E.STRONG.SYS.SIGNALS 2 R2 R4 4 0 " + hex(at));
  }
  void store(std::uint16_t device, Address at) { add(device, "00000001 0 ST.E 2 R2 R4 4 0 " + hex(at)); }
  /// Of a line.
  void load(std::uint16_t device, Address at) {
    add(device, "ffffffff 1 R2 LDG.E 1 R4 4 1 " + hex(at) + " 4");
  }
  void await(std::uint16_t device, Address at, std::uint64_t signals) {
    add(device, "00000003 0 AWAIT 0 4 1 " + hex(at) + " " + std::to_string(signals));
  }
  /// To the device's agent, from `offset` of what is its own on.
  void give_memory(std::uint16_t device, std::uint64_t offset) {
    trace::Command memory;
    memory.kind = trace::Command::Kind::kNetMemory;
    memory.device = device;
    memory.address = base(device) + kAgent + offset;
    memory.bytes = 1 << 20;
    phases_.back().push_back(memory);
  }
  /// A queue, by the order of the calls.
  std::uint32_t queue(std::uint16_t device) {
    const auto number = static_cast<std::uint32_t>(operations_[device].size());
    trace::Command queue;
    queue.kind = trace::Command::Kind::kNetQueue;
    queue.device = device;
    queue.address = entry(device, number, 0);
    queue.bytes = entries_ * trace::kNetEntryBytes;
    queue.source = index(device, number);
    phases_.back().push_back(queue);
    operations_[device].push_back(0);
    return number;
  }
  /// The kernel writes the entry; the agent may see it when that has come. Its number in the queue.
  std::uint64_t request(std::uint16_t device, trace::NetOperation operation) {
    const std::uint64_t number = post(device, operation);
    signal(device, entry(device, operation.queue, number));
    return number;
  }
  /// Without the kernel's write.
  std::uint64_t post(std::uint16_t device, trace::NetOperation operation) {
    const std::uint64_t number = operations_[device][operation.queue]++;
    operation.ready = static_cast<std::uint32_t>(number / entries_ * 2 + 1);
    trace::Command command;
    command.kind = trace::Command::Kind::kNetOperation;
    command.device = device;
    command.operation = operation;
    phases_.back().push_back(command);
    return number;
  }
  /// Waits until the agent has finished an entry.
  void wait(std::uint16_t device, std::uint32_t number, std::uint64_t operation) {
    await(device, entry(device, number, operation), operation / entries_ * 2 + 2);
  }

  /// f(the scenario as a trace).
  template <class F>
  auto with_trace(F&& f) const {
    const TemporaryFolder folder;
    const auto path = folder.path() / "t";
    std::filesystem::create_directory(path);
    std::ofstream list(path / "kernelslist.g");
    for (std::size_t k = 0; k < instructions_.size(); ++k) {
      const std::string file = "kernel-" + std::to_string(k + 1) + ".traceg";
      std::ofstream(path / file) << kernel_text(k);
      list << "Device," << k % devices_ << "\n" << file << "\n";
    }
    list.close();
    const auto trace = trace::open_trace(path.string());
    return f(PhasedTrace(*trace, phases_));
  }
  [[nodiscard]] gpu::RunResult run(const config::SystemConfig& system, gpu::RunOptions options = {}) const {
    options.system = system;
    options.config = system.devices.front();
    return with_trace([&](const trace::TraceSet& trace) { return gpu::simulate(trace, options); });
  }

 private:
  static constexpr std::uint64_t kAgent = 0x8000000, kQueues = 0x1000000, kQueueStride = 0x2000;
  static std::string hex(Address at) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(at));
    return text;
  }
  void add(std::uint16_t device, std::string instruction) {
    instructions_[instructions_.size() - devices_ + device].push_back(std::move(instruction));
  }
  [[nodiscard]] std::string kernel_text(std::size_t kernel) const {
    std::vector<std::string> all = instructions_[kernel];
    all.push_back("ffffffff 0 EXIT 0 0");
    const std::string id = std::to_string(kernel + 1);
    std::string text = "-kernel name = k" + id + "\n-kernel id = " + id +
                       "\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 16\n"
                       "-binary version = 80\n-cuda stream id = " +
                       id +
                       "\n-shmem base_addr = 0x00007f7e00000000\n-local mem base_addr = 0x00007f7dfe000000\n"
                       "-nvbit version = 1.7.1\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
                       "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
                       "mem_width [adrrescompress?] [mem_addresses] immediate\n\n#BEGIN_TB\n\nthread block = "
                       "0,0,0\n\nwarp = 0\ninsts = " +
                       std::to_string(all.size()) + "\n";
    for (std::size_t i = 0; i < all.size(); ++i) {
      char pc[24];
      std::snprintf(pc, sizeof pc, "%04zx ", 16 * i);
      text += pc + all[i] + "\n";
    }
    return text + "\n#END_TB\n";
  }

  std::uint16_t devices_;
  std::uint32_t entries_;
  std::vector<std::vector<trace::Command>> phases_;
  std::vector<std::vector<std::string>> instructions_;  // by phase, then device
  std::vector<std::vector<std::uint64_t>> operations_;  // by device and queue: how many
};

[[nodiscard]] inline trace::NetOperation put(std::uint16_t target, Address local, Address remote,
                                             std::uint64_t bytes, bool blocking = true) {
  trace::NetOperation o;
  o.kind = trace::NetOperation::Kind::kPut;
  o.blocking = blocking;
  o.target = target;
  o.local = local;
  o.remote = remote;
  o.bytes = bytes;
  return o;
}
[[nodiscard]] inline trace::NetOperation get(std::uint16_t target, Address local, Address remote,
                                             std::uint64_t bytes) {
  trace::NetOperation o = put(target, local, remote, bytes);
  o.kind = trace::NetOperation::Kind::kGet;
  return o;
}
[[nodiscard]] inline trace::NetOperation atomic(std::uint16_t target, Address local, Address remote) {
  trace::NetOperation o = put(target, local, remote, 8);
  o.kind = trace::NetOperation::Kind::kAtomic;
  return o;
}
[[nodiscard]] inline trace::NetOperation quiet() {
  trace::NetOperation o;
  o.kind = trace::NetOperation::Kind::kQuiet;
  o.blocking = true;
  return o;
}

/// Asks for an operation of every kind between device `d` and another one, by queue `q` of `d`, and waits for
/// the last. The put has `bytes`.
inline void ask_every_kind(NetScenario& scenario, std::uint16_t d, std::uint16_t other, std::uint32_t q,
                           std::uint64_t bytes, bool blocking) {
  trace::NetOperation all[] = {
      put(other, NetScenario::data(d), NetScenario::data(other), bytes, blocking),
      get(other, NetScenario::data(d) + 0x20000, NetScenario::data(other) + 0x4010, 900),
      atomic(other, NetScenario::word(d, 2), NetScenario::word(other, 3)), quiet()};
  std::uint64_t last = 0;
  for (trace::NetOperation& one : all) {
    one.queue = q;
    last = scenario.request(d, one);
  }
  scenario.wait(d, q, last);
}
/// Likewise, between the first two devices.
inline void ask_every_kind(NetScenario& scenario, std::uint16_t d, std::uint32_t q, std::uint64_t bytes,
                           bool blocking) {
  ask_every_kind(scenario, d, static_cast<std::uint16_t>(1 - d), q, bytes, blocking);
}

}  // namespace lockstep::test
