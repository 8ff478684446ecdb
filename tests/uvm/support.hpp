// One tree to try policies on.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "paths.hpp"
#include "uvm/evictor.hpp"
#include "uvm/prefetcher.hpp"

namespace lockstep::uvm {

inline nlohmann::json golden() {
  std::ifstream in(LOCKSTEP_SOURCE_DIR "/tests/uvm/golden.json");
  return nlohmann::json::parse(in);
}

using Pieces = std::vector<std::pair<unsigned, unsigned>>;  // first page or leaf, KB

inline Pieces pieces(const nlohmann::json& list) {
  Pieces result;
  for (const auto& piece : list) result.emplace_back(piece[0], piece[1]);
  return result;
}

/// An allocation of one tree, on which faults are staged and arrive at once.
struct OneTree {
  explicit OneTree(unsigned pages) {
    space.add(0x7000'0000, std::uint64_t{pages} * kPageBytes);
    tree = table.touch(0);
  }

  Pieces fault(const PrefetchPolicy& policy, const PageSet& faults, CutRule rule = CutRule::kAfterEachFault) {
    PrefetchContext context{random};
    std::vector<Transfer> transfers;
    stage_faults(policy, table, tree, faults, rule, context, transfers);
    Pieces result;
    for (const Transfer& t : transfers) {
      result.emplace_back(t.run.first, t.run.pages * kPageBytes / 1024);
      arrive(t.run.set());
    }
    return result;
  }
  Pieces fault(const PrefetchPolicy& policy, std::initializer_list<unsigned> pages) {
    PageSet faults;
    for (const unsigned p : pages) faults.insert(p);
    return fault(policy, faults);
  }
  void arrive(const PageSet& pages) {
    it().incoming -= pages;
    it().resident |= pages;
  }
  void fill() { it().resident = it().counted = it().all(); }
  Tree& it() { return table[tree]; }

  AddressSpace space;
  PageTable table{space};
  TreeIndex tree = 0;
  Random random;
};

/// Pages counted below every node of the tree, root first: f(pages of the node, counted).
template <class F>
void for_each_node(const Tree& tree, F&& f) {
  for (unsigned size = tree.pages; size >= kPagesPerLeaf; size /= 2)
    for (unsigned first = 0; first < tree.pages; first += size) f(size, tree.counted.count(first, size));
}

template <class Policies>
const auto& by_name(const Policies& policies, std::string_view name) {
  for (const auto* p : policies)
    if (p->name == name) return *p;
  throw std::logic_error("no policy " + std::string(name));
}

}  // namespace lockstep::uvm
