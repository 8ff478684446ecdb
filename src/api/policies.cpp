#include "lockstep/policies.hpp"

#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "api/guarded.hpp"
#include "uvm/evictor.hpp"
#include "uvm/prefetcher.hpp"

namespace lockstep {
namespace {

Pages pages_of(const uvm::PageSet& set) {
  Pages pages;
  set.for_each([&](unsigned page) { pages.set(page); });
  return pages;
}
uvm::PageSet set_of(const Pages& pages) {
  uvm::PageSet set;
  for (unsigned page = 0; page < pages.size(); ++page)
    if (pages.test(page)) set.insert(page);
  return set;
}

/// Policies hold plain functions: each place has one of its own, which finds what was added there.
template <class Policy, class Function>
struct Added {
  struct One {
    std::string name, help;
    Function function;
    Policy policy;
  };
  std::array<One, kMaxPolicies> all;
  std::size_t count = 0;
  std::mutex adding;
};
// Programs may add policies before main(): these are made when they are first needed.
auto& prefetchers() {
  static Added<uvm::PrefetchPolicy, Prefetcher> added;
  return added;
}
auto& evictors() {
  static Added<uvm::EvictionPolicy, Evictor> added;
  return added;
}

template <std::size_t I>
void prefetch(const uvm::Tree& tree, const uvm::PageSet& faults, uvm::PrefetchContext&,
              std::vector<uvm::PageSet>& lists) {
  Pages along;
  prefetchers().all[I].function(
      {tree.base, tree.pages, pages_of(faults), pages_of(tree.resident), pages_of(tree.incoming)}, along);
  lists.push_back((set_of(along) & tree.all()) | faults);
}

class Units final : public EvictionUnits {
 public:
  Units(const uvm::EvictionList& list, const uvm::PageTable& table, const uvm::EvictionRules& rules)
      : list_(list), table_(table), rules_(rules), first_(list.reserved(rules)) {}

  [[nodiscard]] std::uint64_t size() const override { return list_.size() - first_; }
  void walk(std::uint64_t from, const std::function<bool(std::uint64_t, const Unit&)>& visit) const override {
    std::uint64_t position = from;
    (void)list_.walk(first_ + from, [&](uvm::TreeIndex index, const uvm::PageSet& unit) {
      const uvm::Tree& tree = table_[index];
      const uvm::PageSet pages = uvm::evictable(tree, unit, rules_);
      return visit(position++, {tree.base, pages_of(pages), pages_of(pages & tree.dirty), tree.accesses});
    });
  }
  [[nodiscard]] std::optional<uvm::Victim> at(std::uint64_t position) const {
    std::optional<uvm::Victim> victim;
    (void)list_.walk(first_ + position, [&](uvm::TreeIndex index, const uvm::PageSet& unit) {
      const uvm::PageSet pages = uvm::evictable(table_[index], unit, rules_);
      if (!pages.empty()) victim = {index, pages};
      return true;
    });
    return victim;
  }

 private:
  const uvm::EvictionList& list_;
  const uvm::PageTable& table_;
  const uvm::EvictionRules& rules_;
  std::uint64_t first_;  // those before it are reserved
};

template <std::size_t I>
std::optional<uvm::Victim> evict(const uvm::EvictionList& list, const uvm::PageTable& table,
                                 const uvm::EvictionRules& rules, uvm::Random&) {
  const Units units(list, table, rules);
  const auto position = evictors().all[I].function(units);
  if (!position || *position >= units.size()) return std::nullopt;
  return units.at(*position);
}

template <std::size_t... I>
constexpr auto prefetch_functions(std::index_sequence<I...>) {
  return std::array{&prefetch<I>...};
}
template <std::size_t... I>
constexpr auto evict_functions(std::index_sequence<I...>) {
  return std::array{&evict<I>...};
}

/// The place for one more.
template <class Policy, class Function>
auto& next(Added<Policy, Function>& added, const std::string& name, const std::string& help,
           Function function) {
  if (added.count == kMaxPolicies)
    throw Error("policy '" + name + "': " + std::to_string(kMaxPolicies) + " have been added already");
  if (name.empty() || !function) throw Error("a policy needs a name and a function");
  auto& one = added.all[added.count];
  one = {name, help, std::move(function), {}};
  return one;
}

}  // namespace

void add_prefetcher(const std::string& name, const std::string& help, Prefetcher prefetcher) {
  const std::scoped_lock lock(prefetchers().adding);
  static constexpr auto kFunctions = prefetch_functions(std::make_index_sequence<kMaxPolicies>());
  auto& one = next(prefetchers(), name, help, std::move(prefetcher));
  one.policy = {one.name, one.help, kFunctions[prefetchers().count]};
  guarded([&] { uvm::add_prefetcher(one.policy); });
  ++prefetchers().count;
}

static_assert(static_cast<int>(EvictionUnit::kPage) == static_cast<int>(uvm::EvictUnit::kPage) &&
              static_cast<int>(EvictionUnit::kLeaf) == static_cast<int>(uvm::EvictUnit::kLeaf) &&
              static_cast<int>(EvictionUnit::kTree) == static_cast<int>(uvm::EvictUnit::kTree));

void add_evictor(const std::string& name, const std::string& help, EvictionUnit unit, Evictor evictor) {
  const std::scoped_lock lock(evictors().adding);
  static constexpr auto kFunctions = evict_functions(std::make_index_sequence<kMaxPolicies>());
  auto& one = next(evictors(), name, help, std::move(evictor));
  one.policy = {one.name, one.help, static_cast<uvm::EvictUnit>(unit), true, kFunctions[evictors().count]};
  guarded([&] { uvm::add_evictor(one.policy); });
  ++evictors().count;
}

}  // namespace lockstep
