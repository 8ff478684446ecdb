// What the checks of device programs have found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "exec/check/checks.hpp"
#include "util/types.hpp"

namespace lockstep::exec {

enum class FindingKind : std::uint8_t {
  kOutOfBounds,    // in no allocation, or outside of the CTA's shared or the thread's local memory
  kUseAfterFree,   // in an allocation that has been freed
  kMisaligned,     // not at a multiple of the access's size
  kUninitialised,  // a read of memory that nothing has written since its allocation
  kRace,           // two unordered accesses, at least one a write
  kLeak,           // an allocation that is not freed at the end
};

/// A thread at an instruction. `line` counts in the PTX text of `module`, from 1.
struct FindingSite {
  std::string module;
  std::uint32_t line = 0;
  std::string source;       // FILE:LINE of the program's source, where the PTX says it
  std::string instruction;  // as PTX text
  Dim3 cta{0, 0, 0}, thread{0, 0, 0};
};

/// One error, with the first of the accesses that made it.
struct Finding {
  FindingKind kind = FindingKind::kOutOfBounds;
  bool warning = false;  // correct only if the lanes of a warp run in lockstep, which CUDA does not guarantee
  std::string access;    // read, write, atomic; of a race: how the later access follows the earlier one
  std::string space;     // global, shared, local
  std::uint64_t bytes = 0;
  Address address = 0;  // in its space
  std::string kernel;   // as the program names it (mangled)
  FindingSite site;
  std::optional<FindingSite> earlier;  // of a race
  std::string detail;                  // where the address lies
  std::uint64_t count = 1;             // accesses of threads
};

/// All findings of a program. A finding is kept once for each kernel, kind, place and partner, in the order
/// of their first accesses; more than kPerKernel of a kernel are only counted.
class Findings {
 public:
  static constexpr std::size_t kPerKernel = 32;

  /// A place, to count() more accesses of the same finding.
  using Index = std::size_t;
  [[nodiscard]] Index add(Finding finding);
  void count(Index index) { ++(index == kDropped ? dropped_ : all_[index].count); }

  [[nodiscard]] const std::vector<Finding>& all() const { return all_; }
  /// Accesses of findings beyond kPerKernel.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  [[nodiscard]] std::uint64_t errors() const;
  [[nodiscard]] std::uint64_t warnings() const;

  /// The file that one process of a program leaves and read() reads.
  [[nodiscard]] std::string to_json(const Checks& checks) const;
  /// Adds what to_json() gave. Throws UserError where `json` is something else.
  void read(const std::string& json);
  /// Readable: each finding and a summary.
  [[nodiscard]] std::string to_text() const;

 private:
  static constexpr Index kDropped = ~Index{0};
  using Key = std::tuple<std::string, FindingKind, std::string, std::uint32_t, std::uint32_t, Address>;

  std::vector<Finding> all_;
  std::map<Key, Index> places_;
  std::map<std::string, std::size_t> per_kernel_;
  std::uint64_t dropped_ = 0;
};

}  // namespace lockstep::exec
