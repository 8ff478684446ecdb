// The program's advice on managed memory, as cudaMemRangeGetAttribute reports it.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "util/types.hpp"

namespace lockstep::cuda {

/// Where managed memory is or shall be: a device's number, the host, or no place.
enum ManagedPlace : int { kNoPlace = -2, kHostPlace = -1 };

struct Advised {
  bool read_mostly = false;
  int preferred = kNoPlace, prefetched = kNoPlace;
  std::set<int> accessed_by;
};

class ManagedAdvice {
 public:
  /// enum cudaMemoryAdvise, and a prefetch.
  enum Kind {
    kSetReadMostly = 1,
    kUnsetReadMostly,
    kSetPreferred,
    kUnsetPreferred,
    kSetAccessedBy,
    kUnsetAccessedBy,
    kPrefetch
  };
  void note(Address begin, std::uint64_t bytes, Kind kind, int place);
  /// The range has been allocated anew.
  void forget(Address begin, std::uint64_t bytes);
  /// What holds for all of the range: where parts of it differ, nothing.
  [[nodiscard]] Advised of(Address begin, std::uint64_t bytes) const;

 private:
  struct Note {
    Address begin, end;
    Kind kind;
    int place;
  };
  [[nodiscard]] Advised at(Address address) const;

  std::vector<Note> notes_;  // in the order of the calls
};

}  // namespace lockstep::cuda
