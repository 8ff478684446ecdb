// The way back of lines that left the load/store unit for want of a translation.
#pragma once

#include <string>

#include "core/bypass_path.hpp"
#include "core/l1_lookup.hpp"
#include "core/lsu_port.hpp"
#include "core/tag_stage.hpp"
#include "core/translator.hpp"

namespace lockstep::core {

/// Takes what comes to the Translator, in order: lines try again where they came from, lines of pages that
/// are elsewhere go to the port, shootdowns wait for fills of their pages and make the L1 forget these.
class ParkedLines {
 public:
  ParkedLines(Translator& translator, TagStage& tags, BypassPath& bypass, L1Lookup& l1, LsuPort& port,
              LsuResults& results)
      : translator_(&translator),
        tags_(&tags),
        bypass_(&bypass),
        l1_(&l1),
        port_(&port),
        results_(&results) {}

  /// One cycle, after the operations of the load/store unit: a line needs a place in the tag stage that none
  /// of them wants.
  void serve(Cycle now);
  /// A line that was read or written on the host or another device: like one that comes back from the L2.
  void receive_remote(Cycle now, std::uint32_t token);
  /// Cycle > now in which serve() has something to do; kNever.
  [[nodiscard]] Cycle next_event(Cycle now) const;

 private:
  [[nodiscard]] bool try_again(Cycle now);
  [[nodiscard]] bool shoot_down(Cycle now);
  void arrived(Cycle now, const ParkedLine& line);

  Translator* translator_;
  TagStage* tags_;
  BypassPath* bypass_;
  L1Lookup* l1_;
  LsuPort* port_;
  LsuResults* results_;
};

}  // namespace lockstep::core
