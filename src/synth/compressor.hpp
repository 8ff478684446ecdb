// Compressed output streams.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>

namespace lockstep::synth {

enum class Compression : std::uint8_t { kNone, kGzip, kXz, kZstd };

/// A stream that writes to `sink` in compressed form; complete once it has been destroyed. `sink` must
/// outlive it; its state tells whether everything was written.
[[nodiscard]] std::unique_ptr<std::ostream> compressed(Compression compression, std::ostream& sink);

}  // namespace lockstep::synth
