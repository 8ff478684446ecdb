// Requests to all TLBs to drop translations of pages that are leaving.
#pragma once

#include <cstdint>
#include <vector>

#include "uvm/page_table.hpp"

namespace lockstep::uvm {

struct Shootdown {
  std::uint32_t id = 0;
  TreeId tree = 0;
  std::uint16_t first = 0, pages = 0;
};

class Shootdowns {
 public:
  /// Returns the shootdown's id, with which the TLBs acknowledge it.
  std::uint32_t add(TreeId tree, unsigned first, unsigned pages) {
    list_.push_back({next_, tree, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(pages)});
    return next_++;
  }
  /// Those added since the list was last cleared.
  [[nodiscard]] const std::vector<Shootdown>& list() const { return list_; }
  void clear() { list_.clear(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, next_, list_);
  }

 private:
  std::uint32_t next_ = 0;
  std::vector<Shootdown> list_;
};

}  // namespace lockstep::uvm
