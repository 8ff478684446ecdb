// Where each managed page is: on the host, or on one or several devices.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "uvm/directory_messages.hpp"

namespace lockstep::uvm {

/// The driver's knowledge on the host, per tree (its blocks of 2 MiB). All pages begin on the host. A page is
/// on the host or on one device, or read-only on several devices and perhaps the host; and devices may map it
/// where it is.
///
/// A device requests pages (kAcquire). Acquisitions of one tree are served one at a time, in the order of the
/// requests, as the driver holds its block's lock:
/// 1. Devices that must release pages or mappings get kRevoke, and reply (kRevoked) when none of their SMs
///    uses them any more.
/// 2. Pages on other devices are copied by these devices' copy engines (kCopy): by that of the
/// lowest-numbered
///    device with a link to the requesting one. Pages on the host are read by the requesting device itself
///    (kGrant). Pages that only devices without a link have go through the host.
/// 3. When all have arrived, the device reports that (kDone).
/// Before pages are mapped that another device should have (preferred location), that device gets kAttract
/// and may migrate them like any other pages; other requests are served meanwhile. Pages that leave a device
/// by eviction, or because the host needs them, are reported afterwards (kLeft): an acquisition that needs
/// them then finds them on the host.
///
/// It takes no time: it replies at once.
class Directory {
 public:
  /// `reach[a]`: bit b where device a can access the memory of device b, and the other way round.
  explicit Directory(std::vector<std::uint64_t> reach);

  void receive(std::uint16_t device, const DirectoryRequest& request);

  struct Output {
    std::uint16_t device = 0;
    bool port = false;  // to its peer port, otherwise to its GMMU
    DirectoryCommand command;
  };
  /// Since they were cleared last, in order.
  [[nodiscard]] const std::vector<Output>& output() const { return output_; }
  void clear_output() { output_.clear(); }

  /// No acquisition is under way.
  [[nodiscard]] bool idle() const { return acquisitions_ == 0; }
  [[nodiscard]] std::size_t acquisitions() const { return acquisitions_; }
  /// Where the pages of a tree are: on the device, or with kHostPlace on the host.
  [[nodiscard]] PageSet pages_at(TreeId tree, std::uint16_t place) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(reach_), blocks_, output_, next_id_, acquisitions_);
  }

 private:
  struct Acquisition {
    std::uint16_t device = 0;
    DirectoryRequest request;
    std::uint32_t attracted = 0;  // id of the kAttract that was sent for it
  };
  /// Pages that another device releases to the requesting one, or shares with it.
  struct Source {
    std::uint16_t device = 0;
    bool keep = false;
    std::uint32_t id = 0;  // of the kRevoke
    PageSet pages;
  };
  struct Block {
    TreeId tree = 0;
    std::vector<PageSet> held, mapped, followed;  // by device
    PageSet host = ~PageSet();                    // the host's copy is valid
    std::deque<Acquisition> waiting;
    std::vector<Acquisition> parked;  // until a device has what it should have
    bool busy = false;
    // State of the acquisition that is being served:
    Acquisition now;
    std::vector<std::uint32_t> owed;  // ids of kRevoke without a reply yet
    std::vector<Source> sources;
    template <class A>
    void persist(A& a) {
      a.members(*this, tree, held, mapped, followed, host, waiting, parked, busy, now, owed, sources);
    }
  };
  using How = DirectoryCommand::How;

  [[nodiscard]] Block& block(TreeId tree);
  [[nodiscard]] bool near(std::uint16_t a, std::size_t b) const { return reach_[a] >> b & 1; }
  void serve(Block& block);
  [[nodiscard]] bool attract(Block& block);
  void unpark(Block& block, std::uint32_t id);
  [[nodiscard]] static PageSet wanted_alone(const Block& block);
  void revoke_for_pages(Block& block);
  void revoke_for_mappings(Block& block);
  void revoke(Block& block, std::uint16_t device, How how, const PageSet& pages);
  void hand_over(Block& block);
  void copy(Block& block, Source& source);
  void map(Block& block, std::uint16_t device, const PageSet& wanted, std::uint32_t id);
  void copied(Block& block, std::uint16_t device, const DirectoryRequest& request);
  void left(Block& block, std::uint16_t device, const DirectoryRequest& request);
  void follow(Block& block);
  void finish(Block& block);
  [[nodiscard]] static PageSet held_elsewhere(const Block& block, std::size_t but);
  void send(std::uint16_t device, const DirectoryCommand& command, bool port = false) {
    output_.push_back({device, port, command});
  }

  std::vector<std::uint64_t> reach_;
  std::unordered_map<TreeId, Block> blocks_;  // never walked over
  std::vector<Output> output_;
  std::uint32_t next_id_ = 1;
  std::size_t acquisitions_ = 0;
};

}  // namespace lockstep::uvm
