#include "gpu/net_checks.hpp"

#include <fmt/format.h>

#include "net/core_port.hpp"
#include "trace/host_task.hpp"
#include "util/error.hpp"

namespace lockstep::gpu {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40, kMaxInstructions = std::uint64_t{1} << 50;

}  // namespace

net::AgentNews NetChecks::news(const trace::Command& c) {
  using Kind = trace::Command::Kind;
  using News = net::AgentNews::Kind;
  if (system_->nics == 0)
    throw UserError(fmt::format(
        "device {} uses the network, but {} has no NICs; expected a system with some (-c compnet_8)",
        c.device, system_->name));
  OfDevice& device = devices_[c.device];
  net::AgentNews news{News::kOperation, c.device, 0, c.address, c.bytes, c.source, c.operation};
  if (c.kind == Kind::kNetMemory) {
    check_memory(c);
    ++device.memories;
    news.kind = News::kMemory;
  } else if (c.kind == Kind::kNetQueue) {
    check_queue(c);
    news.kind = News::kQueue;
    news.queue = device.queues++;
  } else {
    check_operation(c);
  }
  return news;
}

net::AgentNews NetChecks::task(const trace::Command& c) const {
  const trace::HostTask& t = c.task;
  if (!system_->served_by(config::NetDesignTraits::Server::kProcesses))
    throw UserError(fmt::format(
        "the host of device {} computes or communicates by itself, and {} has {}; expected a system with "
        "NICs "
        "and [node] design = inter_kernel or cpu",
        c.device, system_->name,
        system_->nics == 0 ? std::string("no NICs")
                           : fmt::format("design = {}", config::traits(system_->network.node.design).name)));
  if (static_cast<std::uint64_t>(t.kind) >= trace::HostTask::kKinds)
    throw UserError(fmt::format("the host of device {} has a task of no known kind", c.device));
  if (t.peer >= system_->devices.size())
    throw UserError(fmt::format("the host of device {} names process {}; expected one of the {} devices'",
                                c.device, t.peer, system_->devices.size()));
  const bool elapses = t.kind == trace::HostTask::Kind::kElapse;
  if (elapses && t.bytes > trace::kMaxElapsedPs)
    throw UserError(fmt::format("the host of device {} computes for {} ps; expected at most {}", c.device,
                                t.bytes, trace::kMaxElapsedPs));
  if ((t.bytes > kMaxBytes && !elapses) || t.instructions > kMaxInstructions)
    throw UserError(fmt::format(
        "the host of device {} has a task of {} bytes and {} instructions; expected at most {} and {}",
        c.device, t.bytes, t.instructions, kMaxBytes, kMaxInstructions));
  if (trace::names_message(t.kind) && t.instructions >= trace::kMaxMessages)
    throw UserError(fmt::format("the host of device {} has message {}; expected one below {}", c.device,
                                t.instructions, trace::kMaxMessages));
  if (t.kind == trace::HostTask::Kind::kAtomic &&
      ((t.bytes != 4 && t.bytes != 8) || (t.remote | t.local) % t.bytes != 0))
    throw UserError(fmt::format(
        "the host of device {} has an atomic of {} bytes at {:#x}, its old value to {:#x}; expected 4 or 8 "
        "bytes, and multiples of that",
        c.device, t.bytes, t.remote, t.local));
  net::AgentNews news{net::AgentNews::Kind::kTask, c.device, 0, 0, 0, 0, {}};
  news.task = t;
  return news;
}

void NetChecks::check_kernel(const trace::KernelHeader& header) const {
  const config::NetDesignTraits& design = config::traits(system_->network.node.design);
  if (!design.without_gpu) return;
  throw UserError(fmt::format(
      "kernel {} ({}) has no GPU to run on in [node] design = {}; expected a program whose hosts compute, or "
      "another design",
      header.id, header.name, design.name));
}

void NetChecks::check_memory(const trace::Command& c) const {
  const std::uint64_t shared = system_->network.command_processor.call_updates > 0 ? kLineBytes : 0;
  const std::uint64_t needed = system_->cores() * config::core_memory_bytes(system_->network) + shared;
  if (c.address % trace::kNetEntryBytes != 0 || c.bytes < needed)
    throw UserError(fmt::format(
        "the memory of device {}'s command processor is {} bytes at {:#x}; expected at least {} at a "
        "multiple of {}",
        c.device, c.bytes, c.address, needed, trace::kNetEntryBytes));
  if (devices_[c.device].memories == net::CorePort::kMaxMoves)
    throw UserError(fmt::format("device {}'s command processor is given memory more than {} times", c.device,
                                net::CorePort::kMaxMoves));
}

void NetChecks::check_queue(const trace::Command& c) const {
  if (system_->cores() > 0 && devices_[c.device].memories == 0)
    throw UserError(fmt::format(
        "device {} has a queue for the network before memory for its command processor", c.device));
  if (c.address % trace::kNetEntryBytes != 0 || c.bytes == 0 || c.bytes % trace::kNetEntryBytes != 0 ||
      c.source % 4 != 0)
    throw UserError(fmt::format(
        "queue {} of device {} is {} bytes at {:#x} with its read index at {:#x}; expected multiples of {}, "
        "and "
        "of 4",
        devices_[c.device].queues, c.device, c.bytes, c.address, c.source, trace::kNetEntryBytes));
}

void NetChecks::check_operation(const trace::Command& c) const {
  using Kind = trace::NetOperation::Kind;
  const trace::NetOperation& o = c.operation;
  const auto fail = [&](const std::string& what) {
    throw UserError(fmt::format("device {} requests from the network {}", c.device, what));
  };
  if (system_->served_by(config::NetDesignTraits::Server::kProcesses))
    fail(fmt::format(
        "something by a queue of its kernels, but no agent serves queues in [node] design = {}; expected a "
        "program whose hosts communicate, or another design",
        config::traits(system_->network.node.design).name));
  if (o.queue >= devices_[c.device].queues)
    fail(fmt::format("something by queue {}; expected one of its {}", o.queue, devices_[c.device].queues));
  if (static_cast<std::uint64_t>(o.kind) >= trace::NetOperation::kKinds)
    fail("an operation of no known kind");
  if (o.kind == Kind::kQuiet) return;
  if (o.target >= system_->devices.size())
    fail(fmt::format("memory of device {}; expected one of the {} devices", o.target,
                     system_->devices.size()));
  if (o.bytes > kMaxBytes) fail(fmt::format("{} bytes at once; expected at most {}", o.bytes, kMaxBytes));
  if (o.kind == Kind::kPut && o.signal % 8 != 0)
    fail(fmt::format("a signal at {:#x}; expected a multiple of 8", o.signal));
  if (o.kind == Kind::kAtomic && ((o.bytes != 4 && o.bytes != 8) || (o.remote | o.local) % o.bytes != 0))
    fail(fmt::format(
        "an atomic of {} bytes at {:#x}, its old value to {:#x}; expected 4 or 8 bytes, and multiples "
        "of that",
        o.bytes, o.remote, o.local));
}

}  // namespace lockstep::gpu
