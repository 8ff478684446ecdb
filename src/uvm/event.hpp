// What happened when, for the timeline.
#pragma once

#include <cstdint>

#include "util/types.hpp"
#include "uvm/transfer.hpp"

namespace lockstep::uvm {

struct Event {
  enum class Kind : std::uint8_t {
    kFault,
    kTransfer,
    kPrefetch,
    kWriteBack,
    kDrop,
    kFaultHandling,
    kBatch,
    kSynchronise,
    kCount
  };
  Kind kind = Kind::kTransfer;
  Cycle start = 0, end = 0;  // core cycles
  Run run;                   // kBatch: run.pages holds the number of entries
};

}  // namespace lockstep::uvm
