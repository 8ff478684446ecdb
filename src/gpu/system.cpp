#include "gpu/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace lockstep::gpu {
namespace {

std::uint64_t time_base(std::span<const config::GpuConfig> devices) {
  std::vector<std::uint64_t> clocks;
  for (const config::GpuConfig& device : devices) clocks.push_back(device.clock.core_khz);
  return sim::time_base_khz(clocks);
}

/// Rounded up.
Time time_of_ps(std::uint64_t ps, std::uint64_t base_khz) {
  return (ps * base_khz + 999'999'999) / 1'000'000'000;
}

}  // namespace

System::System(sim::Engine& engine, const config::SystemConfig& config, const Plan& plan,
               const Builder& builder, bool skip, const RankMap& map)
    : base_khz_(time_base(config.devices)),
      map_(map),
      cells_(cells_of(config)),
      host_(plan.commands, plan.streams, config.devices.front().host.copy_mode),
      apertures_(plan.apertures) {
  const std::uint32_t lanes = config.linked() ? config.port_lanes : 0;
  const sim::DomainId host = engine.claim(1);
  host_.set_time_base(base_khz_);
  engine.place(host, host_, sim::DomainKind::kOther);
  std::vector<sim::DomainId> ends;  // of links
  std::vector<icnt::Numbering> numberings;
  for (const config::GpuConfig& device : config.devices) {
    icnt::Numbering numbering = icnt::numbering_of(device, lanes, config.cores());
    numbering.first = node_ids_.emplace_back(engine.claim(numbering.domains()));
    ends.push_back(numbering.peer_port());
    numberings.push_back(numbering);
  }
  if (lanes > 0) {
    const sim::DomainId others = engine.claim(config.hosts + config.nics);
    for (std::uint32_t i = 0; i < config.hosts + config.nics; ++i)
      ends.push_back(node_ids_.emplace_back(others + i));
    links_ = std::make_unique<Links>(engine, config, ends, base_khz_);
    links_->attach(engine, map_, elsewhere_);
    host_.set_peer_copy_start(time_of_ps(config.copy_start_ps, base_khz_));
    if (plan.manages && config.devices.size() > 1) {
      sharing_ = std::make_unique<Sharing>(engine, config, numberings, base_khz_);
      sharing_->attach(engine, map_, elsewhere_);
    }
  }
  for (std::uint16_t d = 0; d < config.devices.size(); ++d) {
    const config::GpuConfig& device = config.devices[d];
    const sim::DomainClock& clock = clocks_.emplace_back(base_khz_, device.clock.core_khz);
    devices_.push_back(make_device(d, node_ids_[d], host, config, plan, builder, skip));
    devices_.back()->attach(engine, clock, elsewhere_);
    host_.add_device(devices_.back()->dispatcher(), clock,
                     time_of_ps(std::uint64_t{device.host.copy_start_ns} * 1000, base_khz_));
  }
  if (config.nics > 0) {
    networking_ = std::make_unique<Networking>(config, map_, *links_, devices_, ends, host, base_khz_);
    networking_->attach(engine, elsewhere_);
    networking_->place(apertures_);
    host_.set_agents(networking_->news());
    if (networking_->task_ends()) host_.set_task_ends(*networking_->task_ends(), networking_->task_span());
  }
  for (const KernelPlan& kernel : plan.kernels)
    devices_[kernel.device]->dispatcher().set_plan(kernel.kernel, kernel.launch);
  if (links_) node_ids_.insert(node_ids_.end(), links_->switch_ids().begin(), links_->switch_ids().end());
}

std::unique_ptr<Device> System::make_device(std::uint16_t number, sim::DomainId first, sim::DomainId host,
                                            const config::SystemConfig& config, const Plan& plan,
                                            const Builder& builder, bool skip) {
  const config::GpuConfig& device = config.devices[number];
  if (!map_.is_here(number))
    return std::make_unique<Device>(first, host, device, plan, config.port_lanes, config.cores());
  return links_ ? make_linked(number, first, host, device, plan, builder, skip)
                : std::make_unique<Device>(first, host, device, plan, builder, skip);
}

std::unique_ptr<Device> System::make_linked(std::uint16_t number, sim::DomainId first, sim::DomainId host,
                                            const config::GpuConfig& config, const Plan& plan,
                                            const Builder& builder, bool skip) {
  core::PeerWiring wiring = links_->wiring(number);
  if (sharing_) wiring.directory = sharing_->port_link(number);
  const core::DirectoryLink directory = sharing_ ? sharing_->gmmu_link(number) : core::DirectoryLink{};
  return std::make_unique<Device>(first, host, config, plan, builder, skip, &apertures_, std::move(wiring),
                                  directory);
}

std::vector<sim::Rank> System::places() const {
  return by_domain(map_.of_node, sim::kEverywhere, map_.of_node.at(Sharing::kPlace));
}

sim::CellDivision System::cells() {
  const auto of_directory = static_cast<std::uint32_t>(cells_.tiers.size());
  sim::CellDivision division{by_domain(cells_.of_node, sim::CellDivision::kCommon, of_directory),
                             cells_.tiers};
  std::vector<const sim::NetworkBase*> cta_ends;
  for (const auto& device : devices_) cta_ends.push_back(device->fabric().cta_event.get());
  division.at_times = {
      {copy_ends(), [this](Time now) { return host_.queue().copies_out() > 0 ? now : kNever; }},
      {cta_ends, [this](Time now) { return earliest_cta_end(now); }}};
  return division;
}

Time System::earliest_cta_end(Time now) {
  Time earliest = kNever;
  for (std::uint16_t d = 0; d < devices(); ++d) {
    const Cycle end = devices_[d]->earliest_cta_end(cycle(d, now));
    if (end != kNever) earliest = std::min(earliest, time(d, end));
  }
  return earliest;
}

/// What is said of nodes, the host's program and the directory of managed memory, by domain.
std::vector<std::uint32_t> System::by_domain(const std::vector<std::uint32_t>& of_node, std::uint32_t of_host,
                                             std::uint32_t of_directory) const {
  std::vector<std::uint32_t> all{of_host};  // it has the first id
  for (std::size_t node = 0; node < node_ids_.size(); ++node) {
    const std::uint32_t count =
        node < devices_.size() ? devices_[node]->fabric().numbering().domains() : std::uint32_t{1};
    all.resize(std::max<std::size_t>(all.size(), node_ids_[node] + count));
    std::fill_n(all.begin() + node_ids_[node], count, of_node.at(node));
  }
  if (sharing_) all.push_back(of_directory);  // it has claimed the last id
  return all;
}

std::vector<const sim::NetworkBase*> System::copy_ends() {
  std::vector<const sim::NetworkBase*> networks;
  for (const auto& device : devices_) networks.push_back(device->fabric().copy_done.get());
  return networks;
}

/// A copy begins where its command comes; a kernel, which may be what the next copy waits for, ends no
/// earlier than its last CTA has gone to an SM and the word of its end has come back.
Time System::earliest_copy_end(Time now) {
  const host::HostQueue& queue = host_.queue();
  if (queue.copies_left() == 0) return kNever;
  if (queue.copies_out() > 0 || host_.has_news()) return now;
  Time begin = queue.next_call(), command = kNever;
  for (const auto& device : devices_) {
    const icnt::Fabric& fabric = device->fabric();
    if (device->dispatcher().awaits_last_ctas()) return now;
    begin = std::min(begin, now + fabric.launch->latency() + fabric.cta_event->latency());
    command = std::min(command, fabric.copy_command->latency());
  }
  return std::max(now, begin) + command;
}

bool System::quiescent() const {
  return host_.quiescent() && (!links_ || links_->quiescent()) &&
         (!sharing_ || sharing_->directory().quiescent()) && (!networking_ || networking_->quiescent()) &&
         std::all_of(devices_.begin(), devices_.end(),
                     [](const auto& device) { return device->quiescent(); });
}

bool System::at_rest() const {
  return std::ranges::all_of(devices_, [](const auto& device) { return device->at_rest(); }) &&
         (!networking_ || networking_->at_rest());
}

std::string System::busy_domains() const {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  if (!host_.queue().done()) add("host");
  for (std::size_t d = 0; d < devices_.size(); ++d)
    for (const std::string& name : devices_[d]->busy_domains())
      add(devices_.size() > 1 ? fmt::format("device {}: {}", d, name) : name);
  if (networking_ && !networking_->quiescent()) add("network");
  return names;
}

std::string System::dump() const {
  std::string text;
  if (!host_.queue().done()) host_.dump(text);
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::string device = devices_[d]->dump();
    if (devices_.size() > 1 && !device.empty()) text += fmt::format("device {}:\n", d);
    text += device;
  }
  if (links_) links_->dump(text);
  if (sharing_ && !sharing_->directory().quiescent()) sharing_->directory().dump(text);
  if (networking_) networking_->dump(text);
  return text;
}

std::vector<stats::LinkResult> System::links() const {
  if (!links_) return {};
  return links_->results([this](std::uint32_t node) -> const std::vector<link::Wire>* {
    if (!map_.is_here(node)) return nullptr;
    return node < devices_.size() ? &devices_[node]->peer_port().wires() : &networking_->wires(node);
  });
}

SystemWindow window_limit(System& system) {
  SystemWindow found;
  for (std::uint16_t d = 0; d < system.devices(); ++d) {
    const Device& device = system.device(d);
    WindowLimit limit = window_limit(device.config(), device.fabric());
    const Time time = system.clock(d).to_time.floor(limit.cycles);
    if (time < found.time) found = {time, std::move(limit), d};
  }
  return found;
}

}  // namespace lockstep::gpu
