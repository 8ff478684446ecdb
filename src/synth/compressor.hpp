// Compressing output streams.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>

namespace lockstep::synth {

enum class Compression : std::uint8_t { kNone, kGzip, kXz, kZstd };

/// A stream whose bytes reach `sink` compressed, complete once it has been destroyed. `sink` must outlive it;
/// its state says whether all could be written.
[[nodiscard]] std::unique_ptr<std::ostream> compressed(Compression compression, std::ostream& sink);

}  // namespace lockstep::synth
