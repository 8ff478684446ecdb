// What the next node has to wait for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace lockstep::exporter {

/// A set of nodes. Of a chain, whose nodes wait for each other anyway, it keeps the last one only, so that it
/// does not grow with the length of a trace.
class Frontier {
 public:
  static constexpr std::uint32_t kNoChain = std::numeric_limits<std::uint32_t>::max();
  struct Entry {
    std::uint32_t node = 0, chain = kNoChain;
    bool begun = false;  // has to have begun; else to be complete
    bool operator==(const Entry&) const = default;
  };

  void add(const Entry& entry) {
    for (Entry& mine : entries_) {
      if (mine == entry) return;
      if (entry.chain == kNoChain || mine.chain != entry.chain) continue;
      mine.node = std::max(mine.node, entry.node);
      return;
    }
    entries_.push_back(entry);
  }
  void merge(const Frontier& other) {
    for (const Entry& entry : other.entries_) add(entry);
  }
  void set(const Entry& entry) { entries_.assign(1, entry); }
  void clear() { entries_.clear(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace lockstep::exporter
