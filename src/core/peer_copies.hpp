// Copies from a device's memory to that of others.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "icnt/fabric.hpp"
#include "util/index_set.hpp"
#include "util/types.hpp"

namespace lockstep::core {

/// A copy is read line by line from the device's own L2, and written to the other device's as the lines come.
/// One copy at a time to each device, up to `lines` of its lines under way; copies to different devices run
/// side by side. The destination is taken to lie in its lines as the source does in its own.
class PeerCopies {
 public:
  PeerCopies(std::size_t devices, std::uint32_t lines) : lanes_(devices), lines_(lines), readable_(devices) {}

  struct Line {
    std::uint16_t to = 0;  // device
    Address source = 0, destination = 0;
    SectorMask sectors = 0;
    bool leaves = false;  // of a page that migrates: it leaves the L2
  };

  /// `now`: when it arrives; its reported time begins at `asked`.
  void add(const icnt::CopyCommand& command, std::uint16_t to, Cycle asked);
  /// Managed pages that migrate or are duplicated, for the directory.
  void add(const uvm::DirectoryCommand& order);
  /// The next line to be read, of the devices in turn; nothing when none may be.
  [[nodiscard]] std::optional<Line> next_line();
  [[nodiscard]] bool has_line() const { return !readable_.empty(); }
  /// The end of a copy, or of an order of the directory.
  struct Done {
    icnt::CopyDone copy;
    bool ordered = false;  // copy.index: the order's id
    uvm::TreeId tree = 0;
  };
  /// A line has been written: its copy's end, where it was the last. `now`: the time.
  [[nodiscard]] std::optional<Done> written(std::uint16_t to, Cycle now);
  [[nodiscard]] bool idle() const;
  void dump(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, lanes_, a.given(lines_), readable_, turn_);
  }

 private:
  struct Job {
    icnt::CopyCommand command;
    Cycle asked = 0;
    // For a copy requested by the directory:
    bool ordered = false, leaves = false;
    bool last = true;  // the last of its runs of pages
    uvm::TreeId tree = 0;
  };
  struct Lane {
    std::deque<Job> jobs;    // the first one runs
    std::uint64_t read = 0;  // bytes of it that are asked for
    std::uint32_t out = 0;   // lines under way
    Cycle free_since = 0;
    template <class A>
    void persist(A& a) {
      a.members(*this, jobs, read, out, free_since);
    }
  };
  /// After each change of the lane.
  void note_readable(std::size_t to);

  std::vector<Lane> lanes_;  // by device
  std::uint32_t lines_;
  IndexSet readable_;  // lanes of which a line may be read
  std::size_t turn_ = 0;
};

}  // namespace lockstep::core
