// The directory of managed pages and its channels, made from a system's configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "core/directory_link.hpp"
#include "gpu/rank_map.hpp"
#include "host/directory_domain.hpp"
#include "icnt/fabric.hpp"
#include "sim/engine.hpp"

namespace lockstep::gpu {

/// Managed memory shared by several devices.
class Sharing {
 public:
  /// Claims an id. `numberings`: of the devices.
  Sharing(sim::Engine& engine, const config::SystemConfig& system,
          const std::vector<icnt::Numbering>& numberings, std::uint64_t base_khz);

  [[nodiscard]] core::DirectoryLink gmmu_link(std::uint16_t device) const { return link(device, 0); }
  [[nodiscard]] core::DirectoryLink port_link(std::uint16_t device) const { return link(device, 1); }
  /// Places the directory, or `elsewhere` where another rank has it, and adds the networks.
  void attach(sim::Engine& engine, const RankMap& map, sim::Domain& elsewhere);
  /// The device in whose rank the directory is.
  static constexpr std::uint16_t kPlace = 0;
  [[nodiscard]] const host::DirectoryDomain& directory() const { return *directory_; }
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(system_), a.given(base_khz_), a.given(id_), requests_, orders_, directory_);
  }

 private:
  [[nodiscard]] core::DirectoryLink link(std::uint16_t device, std::uint32_t part) const;
  [[nodiscard]] std::uint64_t khz(std::uint16_t device) const {
    return system_.devices[device].clock.core_khz;
  }

  config::SystemConfig system_;
  std::uint64_t base_khz_;
  sim::DomainId id_;
  std::unique_ptr<core::DirectoryRequests> requests_;
  std::unique_ptr<core::DirectoryCommands> orders_;
  std::unique_ptr<host::DirectoryDomain> directory_;
};

}  // namespace lockstep::gpu
