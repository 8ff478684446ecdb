// The host, the devices and the links of one simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "gpu/cells.hpp"
#include "gpu/device.hpp"
#include "gpu/links.hpp"
#include "gpu/networking.hpp"
#include "gpu/plan.hpp"
#include "gpu/rank_map.hpp"
#include "gpu/sharing.hpp"
#include "host/host.hpp"
#include "sim/elsewhere.hpp"
#include "sim/engine.hpp"

namespace lockstep::gpu {

/// Its time base is that of the devices' core clocks (sim::time_base_khz): with one device, or several of one
/// core clock, a Time is a core cycle.
class System {
 public:
  /// Claims ids from the engine, places all domains and adds all networks. `map`: nodes of other ranks are
  /// not made here.
  System(sim::Engine& engine, const config::SystemConfig& config, const Plan& plan, const Builder& builder,
         bool skip, const RankMap& map = {});
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  [[nodiscard]] host::Host& host() { return host_; }
  [[nodiscard]] std::uint16_t devices() const { return static_cast<std::uint16_t>(devices_.size()); }
  [[nodiscard]] Device& device(std::uint16_t number) { return *devices_[number]; }
  [[nodiscard]] const sim::DomainClock& clock(std::uint16_t number) const { return clocks_[number]; }
  [[nodiscard]] std::uint64_t base_khz() const { return base_khz_; }
  /// A device's first cycle at or after `now`, and whether its edge is there.
  [[nodiscard]] Cycle cycle(std::uint16_t device, Time now) const {
    return clocks_[device].to_cycles.ceil(now);
  }
  [[nodiscard]] bool at_edge(std::uint16_t device, Time now) const {
    return time(device, cycle(device, now)) == now;
  }
  /// When a device's cycle begins: what happens in it, and nothing later, is ahead.
  [[nodiscard]] Time time(std::uint16_t device, Cycle cycle) const {
    return clocks_[device].to_time.floor(cycle);
  }

  /// The host's program is common to all. Copies and CTAs end quickly, but it is known when none does.
  [[nodiscard]] sim::CellDivision cells();
  // For a system that several ranks simulate.
  [[nodiscard]] bool is_here(std::uint16_t device) const { return map_.is_here(device); }
  /// By domain.
  [[nodiscard]] std::vector<sim::Rank> places() const;
  /// Networks that carry the ends of copies.
  [[nodiscard]] std::vector<const sim::NetworkBase*> copy_ends();
  /// Between windows: no copy ends before this time, as far as the host, which every rank has, can know.
  [[nodiscard]] Time earliest_copy_end(Time now);
  /// Likewise, as far as is known from the warps, no SM reports a CTA freed or drained.
  [[nodiscard]] Time earliest_cta_end(Time now);

  // Between windows.
  /// Whose memory is where has become known up to `apertures`.
  void place(const mem::Apertures& apertures) {
    if (!links_ || apertures.changes() == placed_) return;
    placed_ = apertures.changes();
    apertures_ = apertures;
    if (networking_) networking_->place(apertures_);
  }
  /// Both directions of every link; none with one device.
  [[nodiscard]] std::vector<stats::LinkResult> links() const;
  /// Null where there are no NICs.
  [[nodiscard]] Networking* networking() { return networking_.get(); }
  [[nodiscard]] const Networking* networking() const { return networking_.get(); }
  [[nodiscard]] NetworkTimeline network_timeline() const {
    return networking_ ? networking_->timeline() : NetworkTimeline{};
  }
  [[nodiscard]] std::span<link::TrafficLog> link_logs() {
    return links_ ? links_->logs() : std::span<link::TrafficLog>{};
  }
  [[nodiscard]] LinkTimeline link_timeline() const { return links_ ? links_->timeline() : LinkTimeline{}; }
  /// Before the run: links and what serves the network keep what their part of a timeline needs.
  void record_network() {
    if (links_) links_->record();
    if (networking_) networking_->record();
  }
  /// Precondition: there are NICs.
  /// `run_ps`: from the beginning of the run to its end.
  [[nodiscard]] stats::NetworkReport network_report(std::uint64_t run_ps) {
    return networking_->report(devices_, run_ps);
  }
  [[nodiscard]] bool quiescent() const;
  /// No warp is resident: the state may be kept.
  [[nodiscard]] bool at_rest() const;
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(base_khz_), a.given(map_), a.given(cells_), a.given(node_ids_),
              a.given(elsewhere_), host_, a.given(clocks_), devices_, a.given(apertures_), a.given(placed_),
              links_, sharing_, networking_);
  }
  /// Names of the domains with something left, with their device where there are several.
  [[nodiscard]] std::string busy_domains() const;
  /// What they wait for.
  [[nodiscard]] std::string dump() const;

 private:
  [[nodiscard]] std::vector<std::uint32_t> by_domain(const std::vector<std::uint32_t>& of_node,
                                                     std::uint32_t of_host, std::uint32_t of_directory) const;
  [[nodiscard]] std::unique_ptr<Device> make_device(std::uint16_t number, sim::DomainId first,
                                                    sim::DomainId host, const config::SystemConfig& config,
                                                    const Plan& plan, const Builder& builder, bool skip);
  [[nodiscard]] std::unique_ptr<Device> make_linked(std::uint16_t number, sim::DomainId first,
                                                    sim::DomainId host, const config::GpuConfig& config,
                                                    const Plan& plan, const Builder& builder, bool skip);

  std::uint64_t base_khz_;
  RankMap map_;
  NodeCells cells_;
  std::vector<sim::DomainId>
      node_ids_;  // by node: of devices the first of their ids, of others their only one
  sim::Elsewhere elsewhere_;
  host::Host host_;
  std::vector<sim::DomainClock> clocks_;          // by device
  std::vector<std::unique_ptr<Device>> devices_;  // by number
  // With several devices only.
  mem::Apertures apertures_;
  std::uint64_t placed_ = ~std::uint64_t{0};  // changes() of the last that was placed
  std::unique_ptr<Links> links_;
  std::unique_ptr<Sharing> sharing_;        // with managed memory
  std::unique_ptr<Networking> networking_;  // with NICs
};

/// The longest window that all devices allow, as a Time, and the device's own limit and number.
struct SystemWindow {
  Time time = kNever;
  WindowLimit limit{};
  std::uint16_t device = 0;
};
[[nodiscard]] SystemWindow window_limit(System& system);

}  // namespace lockstep::gpu
