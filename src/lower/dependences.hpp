// What may not be reordered within a straight run of PTX instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

/// Instructions between which nothing is reordered: barriers, calls, fences, asynchronous copies, reads of a
/// clock, and whatever ends a basic block.
[[nodiscard]] bool keeps_its_place(const ptx::Instruction& instruction);

/// Arrivals at mbarriers and waits for products of a warpgroup: they keep their order among themselves and
/// with accesses to memory. Arithmetic passes them, unless it needs the products.
[[nodiscard]] bool keeps_order(const ptx::Instruction& instruction);

/// One edge: `to` comes after `from`; `value`: it waits for the result (otherwise only for its issue).
struct Dependence {
  std::uint32_t to = 0;
  bool value = false;
};

/// For each instruction of [first, end) of a function, relative to first, those that must follow it.
/// Registers: read after write, write after read, write after write. Memory: two accesses of which one writes
/// stay in order unless they differ in state space, in variable, or in offset from the same address; loads
/// through the non-coherent path (.nc, constants, textures) never wait for a store.
class Dependences {
 public:
  /// `roots`: as address_roots() gives them. `products`: product_registers().
  struct Root {
    bool symbol = false;
    std::uint64_t id = 0;  // register, or kind and number of a symbol
    std::int64_t offset = 0;
    friend bool operator==(const Root&, const Root&) = default;
  };
  Dependences(const ptx::Function& function, const std::vector<Root>& roots,
              const std::vector<ptx::RegisterId>& products, std::uint32_t first, std::uint32_t end);

  [[nodiscard]] const std::vector<Dependence>& after(std::uint32_t at) const { return after_[at]; }

 private:
  void registers(const ptx::Function& function, const std::vector<ptx::RegisterId>& products,
                 std::uint32_t first);
  void memory(const ptx::Function& function, const std::vector<Root>& roots, std::uint32_t first);
  void add(std::uint32_t from, std::uint32_t to, bool value) {
    if (from != to) after_[from].push_back({to, value});
  }

  std::vector<std::vector<Dependence>> after_;
};

/// By register: what it is a constant offset from, where every write of both is seen (registers written once
/// by an addition of an immediate, a copy or a symbol's address); otherwise the register itself.
[[nodiscard]] std::vector<Dependences::Root> address_roots(const ptx::Function& function);

/// Registers that a warpgroup's products read or write, which they may do until they have been waited for.
[[nodiscard]] std::vector<ptx::RegisterId> product_registers(const ptx::Function& function);

}  // namespace lockstep::lower
