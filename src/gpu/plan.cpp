#include "gpu/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "gpu/cluster_plan.hpp"
#include "gpu/plan_commands.hpp"
#include "trace/host_task.hpp"
#include "util/error.hpp"
#include "util/types.hpp"
#include "uvm/remote.hpp"

namespace lockstep::gpu {
namespace {

// Where the instruction caches see code: traces give PCs relative to the function. Device allocations of CUDA
// lie far above or far below; a function gets room for itself and its callees, a whole number of lines that
// keeps different functions off the same cache sets. Below 2^39, so that line numbers have 32 bits.
constexpr Address kCodeBase = Address{1} << 38, kCodeStride = (Address{64} << 20) + 65 * kLineBytes;
constexpr std::uint64_t kCodeRooms = 4000;

bool selected(std::uint64_t id, const IdRanges& ranges) {
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(),
                                       [&](const auto& r) { return id >= r.first && id <= r.second; });
}

void check_selection(const trace::TraceSet& trace, const IdRanges& ranges) {
  for (const auto& [first, last] : ranges) {
    const auto inside = [&, f = first, l = last](const auto& k) { return k.id >= f && k.id <= l; };
    if (std::any_of(trace.kernels().begin(), trace.kernels().end(), inside)) continue;
    throw UserError(first == last
                        ? fmt::format("trace {} has no kernel {}", trace.name(), first)
                        : fmt::format("trace {} has no kernel in {}-{}", trace.name(), first, last));
  }
}

std::string other_architecture(const trace::KernelHeader& header, const config::GpuConfig& config) {
  return fmt::format("code of sm_{} runs on {}: its instructions have the latencies of sm_{}",
                     header.binary_version, config.gpu.name, config.gpu.arch);
}

/// A setting that managed memory of several devices does not support; null if there is none.
const char* not_shared(const uvm::Parameters& p) {
  if (p.fault_mode != uvm::FaultMode::kDriver) return "uvm.fault_mode = per_cycle";
  if (p.early_reuse) return "uvm.early_reuse = true";
  if (uvm::remote_policies()[p.remote] != &uvm::kRemoteNever) return "uvm.remote other than never";
  if (p.remote_path != uvm::RemotePath::kLink) return "uvm.remote_path = slot";
  if (p.smart_runtime) return "uvm.smart_runtime = true";
  return p.synchronise_copies ? "uvm.synchronise_copies = true" : nullptr;
}

}  // namespace

Planner::Planner(const config::SystemConfig& system, IdRanges selection, const Plan& plan,
                 const ManagedOptions& managed)
    : system_(&system),
      network_(system),
      routes_(system.routes()),
      selection_(std::move(selection)),
      plan_(&plan),
      managed_(&plan.managed),
      moves_pages_(managed.kind == ManagedOptions::Kind::kTrace) {
  if (grows(managed)) memory_ = managed.memory;
  const bool any =
      managed.kind != ManagedOptions::Kind::kNone && managed.kind != ManagedOptions::Kind::kTrace;
  if (any && system.devices.size() > 1)
    throw UserError(
        "ranges, a file, memcpy or all of --managed are for one device; of several, what the program has "
        "managed itself is simulated, or with --managed none nothing");
}

void Planner::check_device(const trace::Command& c) const {
  if (c.device >= system_->devices.size())
    throw UserError(fmt::format(
        "the trace has work of device {}, and {} has {}; expected a system with at least that many "
        "devices (-c SYSTEM) or --gpus {}",
        c.device, system_->name,
        system_->devices.size() == 1 ? "one device" : fmt::format("{} devices", system_->devices.size()),
        c.device + 1));
  if (c.place >= system_->devices.size())
    throw UserError(
        fmt::format("the trace names device {} as a place of managed memory, and {} has {}; "
                    "expected --gpus {}",
                    c.place, system_->name, system_->devices.size(), c.place + 1));
}

/// What managed memory of several devices does not know.
void Planner::check_sharing() {
  if (system_->devices.size() == 1 || !plan_->manages) return;
  for (const config::GpuConfig& device : system_->devices) {
    const uvm::Parameters& p = device.uvm;
    if (const char* setting = not_shared(p))
      throw UserError(fmt::format("{}: managed memory of several devices is not simulated with it", setting));
    if (p.thrashing)
      remarks_.insert("managed pages that thrash are not looked for with several devices (uvm.thrashing)");
  }
}

void Planner::check_multicast(const trace::Command& c) const {
  if (system_->multicast_switches(c.device).empty())
    throw UserError(fmt::format(
        "the trace has multicast memory of device {}, and in {} no switch with 'multicast = true' has a link "
        "to it",
        c.device, system_->name));
  if ((c.address | c.bytes | c.source) % kLineBytes != 0)
    throw UserError(fmt::format("multicast memory at {:#x}, {} bytes from {:#x}; expected multiples of {}",
                                c.address, c.bytes, c.source, kLineBytes));
}

bool Planner::add(const trace::Command& c, const trace::KernelHeader* header,
                  std::vector<host::HostCommand>& out) {
  using Kind = trace::Command::Kind;
  check_device(c);
  if (c.kind == Kind::kMulticast) check_multicast(c);
  if (c.kind == Kind::kPlace || c.kind == Kind::kMulticast) return false;
  const bool processes = system_->served_by(config::NetDesignTraits::Server::kProcesses);
  if (c.kind == Kind::kHostCall && processes)
    return false;  // each device has a process, whose calls are its own
  if (c.kind == Kind::kHostCall) {
    out.push_back(call_command(c, system_->devices[c.device].launch));
    return true;
  }
  if (add_network(c, out)) return true;
  if (c.kind == Kind::kPeerCopy) {
    add_peer_copy(c, out);
    return true;
  }
  if (c.kind == Kind::kManage) {
    if (moves_pages_) check_sharing();
    if (memory_.millionths > 0) enlarge_memory(c, out);
    return false;
  }
  if (const auto managed = managed_command(c)) {
    if (uvm::pages_in(*managed_, managed->address, managed->bytes).empty()) return false;
    add_managed(c, *managed, out);
    return false;
  }
  if (c.kind == Kind::kDeviceAccess || (is_copy(c.kind) && moves_pages_)) add_device_access(c, out);
  if (c.kind == Kind::kDeviceAccess) return false;
  if (c.kind == Kind::kKernel && !selected(header->id, selection_)) return false;
  host::HostCommand& command = out.emplace_back();
  command = {host_kind(c.kind), 0, c.kernel, c.address, c.bytes, c.event, {}, c.device};
  command.graph_node = c.graph_node;
  if (c.kind == Kind::kKernel && processes) {
    network_.check_kernel(*header);
    command.busy_ns = system_->devices[c.device].launch.call_ns;
  }
  const bool host_waits = c.kind == Kind::kWait || c.kind == Kind::kEventWait;
  if (!host_waits && c.kind != Kind::kCopyToDevice && c.kind != Kind::kCopyToHost) {
    command.stream = dense(c.device, header != nullptr ? header->stream : c.stream);
  }
  // cudaDeviceSynchronize; waits for a stream, an event or a copy move nothing in UVMSmart either.
  if (c.kind == Kind::kWait && system_->devices[0].uvm.synchronise_copies && plan_->manages)
    out.push_back(to_host_command({uvm::ManagedCommand::Kind::kSynchronise}));
  return true;
}

/// From the device whose memory is read. Where no link leads to the other one it goes through the host's
/// memory: from the device, then to the other one. (CUDA lets pieces of the two overlap.)
void Planner::add_peer_copy(const trace::Command& c, std::vector<host::HostCommand>& out) {
  using Kind = host::HostCommand::Kind;
  const std::uint16_t from = plan_->apertures.owner(c.source, c.device);
  const std::uint16_t to = plan_->apertures.owner(c.address, c.device);
  for (const std::uint16_t device : {from, to})
    if (device >= system_->devices.size())
      throw UserError(fmt::format("a copy names memory of device {}; expected one of the {} devices", device,
                                  system_->devices.size()));
  const std::uint32_t stream = dense(c.device, c.stream);
  if (from == to || c.bytes == 0) {
    out.push_back({Kind::kDeviceCopy, stream, 0, c.address, c.bytes, 0, {}, from});
  } else if (routes_[from][to] != config::SystemConfig::kNoEdge) {
    out.push_back({Kind::kPeerCopy, stream, 0, c.address, c.bytes, 0, {}, from, c.source});
  } else {
    out.push_back({Kind::kStreamCopyToHost, stream, 0, c.source, c.bytes, 0, {}, from});
    out.push_back({Kind::kStreamCopyToDevice, stream, 0, c.address, c.bytes, 0, {}, to});
  }
}

/// False: it is neither of the network nor a process's.
bool Planner::add_network(const trace::Command& c, std::vector<host::HostCommand>& out) {
  const bool is_task = c.kind == trace::Command::Kind::kHostTask;
  if (!is_task && !trace::is_network(c.kind)) return false;
  host::HostCommand& command = out.emplace_back();
  command.device = c.device;
  if (!is_task) {
    command.kind = host::HostCommand::Kind::kNetwork;
    command.news = network_.news(c);
    return true;
  }
  command.kind = host::HostCommand::Kind::kTask;
  command.stream = dense(c.device, c.stream);
  command.news = network_.task(c);
  const config::LaunchGroup& launch = system_->devices[c.device].launch;
  if (c.task.kind == trace::HostTask::Kind::kCall) {
    using Call = trace::Command::Call;
    const bool launches = c.task.instructions == static_cast<std::uint64_t>(Call::kLaunch);
    command.news.task.bytes = (launches ? launch.call_ns : launch.wait_ns) * kPsOfNs;
  }
  command.busy_ns = launch.wait_ns;
  return true;
}

std::uint32_t Planner::dense(std::uint16_t device, std::uint64_t stream) {
  return streams_.try_emplace({device, stream}, static_cast<std::uint32_t>(streams_.size())).first->second;
}

/// To each device that it concerns.
void Planner::add_managed(const trace::Command& c, const uvm::ManagedCommand& managed,
                          std::vector<host::HostCommand>& out) {
  const bool to_device = managed.kind == uvm::ManagedCommand::Kind::kPrefetch && !managed.host;
  bool further = false;
  for (std::uint16_t d = 0; d < system_->devices.size(); ++d) {
    if (to_device && d != c.place) continue;
    host::HostCommand& command = out.emplace_back(to_host_command(managed));
    command.device = d;
    command.managed.further = std::exchange(further, true);
    if (managed.kind == uvm::ManagedCommand::Kind::kAdvise && !managed.host && d != c.place)
      name_other(c.place, command);
    if (c.kind == trace::Command::Kind::kStreamPrefetch) put_in_stream(c, command);
  }
}

/// Advice that names a device other than the one that receives it. A preferred location that this device
/// cannot reach does not count for it.
void Planner::name_other(std::uint16_t place, host::HostCommand& command) const {
  command.managed.other = true;
  command.managed.place = place;
  const bool reached = routes_[command.device][place] != config::SystemConfig::kNoEdge;
  if (command.managed.advice == uvm::Advice::kSetPreferredLocation && !reached)
    command.managed.advice = uvm::Advice::kUnsetPreferredLocation;
}

void Planner::put_in_stream(const trace::Command& command, host::HostCommand& managed) {
  managed.kind = host::HostCommand::Kind::kStreamManagedCommand;
  managed.stream = dense(command.device, command.stream);
}

/// The share of what is allocated now.
void Planner::enlarge_memory(const trace::Command& c, std::vector<host::HostCommand>& out) {
  manage(allocated_, c);
  for (std::uint16_t d = 0; d < system_->devices.size(); ++d) {
    host::HostCommand& notice = out.emplace_back(to_host_command({uvm::ManagedCommand::Kind::kMemory}));
    notice.kind = host::HostCommand::Kind::kNotice;
    notice.managed.bytes = share_of(allocated_, memory_);
    notice.device = d;
  }
}

/// In its stream, or, as a copy in blocking mode, when all before it is complete.
void Planner::add_host_access(const trace::Command& copy, std::vector<host::HostCommand>& out) {
  using Kind = uvm::ManagedCommand::Kind;
  host::HostCommand command = to_host_command(
      access_command(copy, is_copy_to_device(copy.kind) ? Kind::kHostWrite : Kind::kHostRead));
  if (copy.kind == trace::Command::Kind::kCopyToDevice || copy.kind == trace::Command::Kind::kCopyToHost) {
    out.emplace_back().kind = host::HostCommand::Kind::kWait;
  } else {
    put_in_stream(copy, command);
  }
  out.push_back(command);
}

/// The device's copy engine touches managed memory: the pages come first.
void Planner::add_device_access(const trace::Command& c, std::vector<host::HostCommand>& out) {
  using Kind = trace::Command::Kind;
  if (managed_->empty() || uvm::pages_in(*managed_, c.address, c.bytes).empty()) return;
  const bool write = c.kind == Kind::kDeviceAccess ? c.write : is_copy_to_device(c.kind);
  host::HostCommand command = to_host_command(access_command(
      c, write ? uvm::ManagedCommand::Kind::kDeviceWrite : uvm::ManagedCommand::Kind::kDeviceRead));
  command.device = c.device;
  if (c.kind != Kind::kCopyToDevice && c.kind != Kind::kCopyToHost) put_in_stream(c, command);
  out.push_back(command);
}

core::LaunchPlan Planner::launch(const trace::KernelHeader& header, std::uint16_t device) {
  const config::GpuConfig& config = system_->devices[device];
  if (header.grid.count() == 0 || header.block.count() == 0)
    throw UserError(fmt::format("kernel {} ({}) has an empty grid or block", header.id, header.name));
  if (header.binary_version != 0 && header.binary_version != config.gpu.arch)
    remarks_.insert(other_architecture(header, config));
  const std::uint64_t room = rooms_.try_emplace(header.name, rooms_.size()).first->second % kCodeRooms;
  core::LaunchPlan plan{&header, config::occupancy(config, header), core::L2Shares::of(header.l2, config.l2),
                        kCodeBase + room * kCodeStride, header.grid.count()};
  plan.cluster = cluster_ctas(header, plan.occupancy, config, remarks_);
  return plan;
}

Plan make_plan(const trace::TraceSet& trace, const config::SystemConfig& system, const IdRanges& selection,
               const ManagedOptions& managed) {
  check_selection(trace, selection);
  Plan plan;
  plan.managed = managed_space(trace, managed);
  plan.manages = !plan.managed.empty();
  if (plan.manages) plan.managed_frames = managed_frames(plan.managed, managed, system);
  std::set<std::pair<std::uint16_t, std::uint32_t>> planned;  // a list may name a kernel twice
  Planner planner(system, selection, plan, managed);
  std::set<std::string> remarks;
  for (const trace::Command& c : trace.commands()) {
    const bool is_kernel = c.kind == trace::Command::Kind::kKernel;
    place(c, system, plan.apertures);
    if (is_copy(c.kind) && managed.kind == ManagedOptions::Kind::kCopies &&
        !uvm::pages_in(plan.managed, c.address, c.bytes).empty()) {
      planner.add_host_access(c, plan.commands);
      continue;
    }
    if (!planner.add(c, is_kernel ? &trace.kernels()[c.kernel] : nullptr, plan.commands) || !is_kernel)
      continue;
    ++plan.kernel_commands;
    if (planned.insert({c.device, c.kernel}).second)
      plan.kernels.push_back({c.device, c.kernel, planner.launch(trace.kernels()[c.kernel], c.device)});
  }
  // Memory that the trace allocates where a queue was before must not take that away from its beginning on.
  for (const trace::Command& c : trace.commands())
    if (c.kind == trace::Command::Kind::kNetQueue) place(c, system, plan.apertures);
  plan.timestamps = timestamps_of(trace.commands());
  plan.streams = planner.streams();
  remarks.insert(planner.remarks().begin(), planner.remarks().end());
  plan.remarks.assign(remarks.begin(), remarks.end());
  return plan;
}

}  // namespace lockstep::gpu
