#pragma once

namespace lockstep {

/// The program's version, "0.1.0", as in stats.json.
[[nodiscard]] const char* version();

}  // namespace lockstep
