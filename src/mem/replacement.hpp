// The registry of the L2's replacement policies: which line of a set goes. A policy is a file, a line in each
// of the two lists here, and its name in the configuration (config::L2Replacement).
//
// A policy has
//   touch(words, set, index)   the line there is used;
//   insert(words, set, index)  a line is put there, which counts as a use;
//   choose(words, set, may)    the line to replace, among those with may(index); kNoLine if there are none.
//                             An unused place goes first, then one with kLeavesFirst. It changes nothing:
//                             it chooses the same place until the next touch() or insert().
// and state of its own, if it needs any beside the words.
#pragma once

#include <variant>

#include "config/gpu_config.hpp"
#include "mem/replacement_hashed_random.hpp"
#include "mem/replacement_lru.hpp"
#include "mem/replacement_nru.hpp"

namespace lockstep::mem {

/// Visited by a switch that is inlined: no call.
using Replacement = std::variant<LruReplacement, NruReplacement, HashedRandomReplacement>;

[[nodiscard]] inline Replacement make_replacement(config::L2Replacement policy) {
  switch (policy) {
    case config::L2Replacement::kLru:
      return LruReplacement{};
    case config::L2Replacement::kNru:
      return NruReplacement{};
    case config::L2Replacement::kHashedRandom:
      return HashedRandomReplacement{};
  }
  __builtin_unreachable();  // the configuration's reader knows no others
}

}  // namespace lockstep::mem
