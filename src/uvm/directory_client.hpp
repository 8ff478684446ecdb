// A device's side of the directory of managed pages.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "uvm/directory_messages.hpp"
#include "uvm/page_table.hpp"
#include "uvm/peer_pages.hpp"
#include "uvm/transfer.hpp"

namespace lockstep::uvm {

class DeviceMemory;

/// Requests from the directory the pages that the device fetches or maps, executes its commands, and reports
/// pages that leave. Part of a DeviceMemory, if there are several.
///
/// Pages that have arrived for faults stay for at least block_ns, since the driver still has to serve whoever
/// waits for the block. So the replayed accesses succeed, however many devices request the page.
class DirectoryClient {
 public:
  DirectoryClient(DeviceMemory& memory, std::size_t devices) : memory_(&memory), peers_(devices) {}

  /// `transfers`: pages to be fetched; their frames are taken and they are `incoming`. `upgraded`: pages that
  /// are here read-only and are to be written. `mapped`: pages to be accessed where they are.
  void acquire(TreeIndex tree, const std::vector<Transfer>& transfers, const PageSet& upgraded,
               const PageSet& mapped);
  /// Pages that, by advice, are to be mapped wherever they are.
  void follow(TreeIndex tree, const PageSet& pages);
  void receive(const DirectoryCommand& command, Cycle now);
  /// Continues to release pages; calling it again at the same time has no effect.
  void step(Cycle now);

  // From the device's memory.
  /// Pages have come over the host link.
  void arrived(TreeIndex tree, const PageSet& pages, Cycle now);
  /// No SM uses them any more.
  void stands_still(const Run& run);
  void left(TreeIndex tree, const PageSet& pages, bool copied);
  void backed(TreeIndex tree, const PageSet& pages);
  /// A command of the directory to fetch pages is complete.
  void attracted(TreeId tree, std::uint32_t id);

  /// The device where the mapped page is; precondition: it is on one.
  [[nodiscard]] std::uint16_t device_of(TreeIndex tree, unsigned page) const;

  /// When step() next has something to do by itself, or kNever.
  [[nodiscard]] Cycle next() const;
  [[nodiscard]] bool acquires() const { return !acquisitions_.empty(); }
  [[nodiscard]] bool idle() const { return acquisitions_.empty() && revocations_.empty(); }
  /// By device.
  [[nodiscard]] const std::vector<PeerPages>& peers() const { return peers_; }
  /// To be sent, in order.
  [[nodiscard]] const std::vector<DirectoryRequest>& requests() const { return requests_; }
  void clear_requests() { requests_.clear(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(memory_), acquisitions_, revocations_, places_, served_, peers_, requests_,
              next_id_);
  }

 private:
  using How = DirectoryCommand::How;
  struct Acquisition {
    std::uint32_t id = 0;
    TreeIndex tree = 0;
    std::vector<Transfer> transfers;
    PageSet missing, upgraded;
    bool granted = false, for_faults = false;
    template <class A>
    void persist(A& a) {
      a.members(*this, id, tree, transfers, missing, upgraded, granted, for_faults);
    }
  };
  struct Revocation {
    DirectoryCommand command;
    TreeIndex tree = 0;
    PageSet moving, still;  // being shot down; unused, and kept until kGone
    bool replied = false, taken = false;
    Cycle due = 0;  // not before
  };

  [[nodiscard]] DirectoryRequest request(DirectoryRequest::Kind kind, TreeIndex tree, std::uint32_t id) const;
  void ask_to_map(TreeIndex tree, const PageSet& pages, std::uint16_t prefer);
  [[nodiscard]] PageSet shared_of(TreeIndex tree, const PageSet& pages) const;
  void granted(Acquisition& acquisition, const DirectoryCommand& command, Cycle now);
  void came(const DirectoryCommand& command, Cycle now);
  void mapped(TreeIndex tree, const DirectoryCommand& command);
  void gone(const DirectoryCommand& command);
  void finish_if_complete(std::uint32_t id, Cycle now);
  [[nodiscard]] Cycle due(const DirectoryCommand& command, TreeIndex tree, Cycle now) const;
  void take(Revocation& revocation, Cycle now);
  [[nodiscard]] bool is_done(const Revocation& revocation) const;

  DeviceMemory* memory_;
  std::vector<Acquisition> acquisitions_;
  std::vector<Revocation> revocations_;
  std::unordered_map<TreeIndex, std::vector<PageSet>> places_;  // of mapped pages, by device; never iterated
  std::unordered_map<TreeIndex, Cycle> served_;  // when faults of a tree were served last; never iterated
  std::vector<PeerPages> peers_;
  std::vector<DirectoryRequest> requests_;
  std::uint32_t next_id_ = 1;
};

}  // namespace lockstep::uvm
