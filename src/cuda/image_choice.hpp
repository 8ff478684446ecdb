// Which image of a fatbin a GPU runs, and whether its driver would compile PTX for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cuda/fatbin.hpp"

namespace lockstep::cuda {

/// "take" or "refuse": what becomes of PTX that the driver of the configured GPU would refuse; not set:
/// it is taken.
inline constexpr const char* kPtxAboveVariable = "LOCKSTEP_CUDA_PTX_ABOVE";

/// What `.target` of PTX names: "sm_75", "sm_90a".
struct PtxTarget {
  std::uint32_t sm = 0;  // compute capability * 10
  char suffix = '\0';    // 'a': for this architecture alone; 'f': for its family; else for all later ones
};
/// Nothing where `text` is no such name.
[[nodiscard]] std::optional<PtxTarget> parse_target(std::string_view text);
/// Does the driver of a GPU of architecture `arch` compile it? PTX ISA, ".target": for the same or a later
/// architecture; with a suffix only for this one, or for its family: same major number, at least its own.
[[nodiscard]] bool accepts(std::uint32_t arch, const PtxTarget& target);

/// The configured GPU, as far as PTX is for it or not.
struct PtxLimit {
  std::uint32_t arch = 0;  // compute capability * 10
  std::string gpu;         // its name
  bool refuse = false;     // what it does not accept is an error, as with hardware
};

/// PTX that the configured GPU's driver would not compile, and that was taken all the same.
struct TakenPtx {
  std::string target;             // "sm_90"
  bool has_machine_code = false;  // hardware would run that in its place
};

/// The remark on it, for a kernel of it.
[[nodiscard]] std::string remark_on(const TakenPtx& taken, const std::string& kernel, const PtxLimit& limit);
/// The error. `owner`: whose kernel it is; `kernel` may be empty.
[[nodiscard]] std::string refusal_of(const std::string& target, const std::string& owner,
                                     const std::string& kernel, const PtxLimit& limit);

/// Chooses among several cubins the one that the driver of a GPU of architecture `arch` loads: same major
/// number, and the highest minor one up to its own (CUDA C++ Programming Guide, binary compatibility).
/// Nothing when there is none: the driver compiles PTX.
[[nodiscard]] const FatbinImage* choose_cubin(std::span<const FatbinImage> images, std::uint32_t arch);
/// Chooses among several PTX images the one for the highest architecture that `arch` accepts, else the
/// lowest: a functional model runs it all the same. Nothing when there is no PTX.
[[nodiscard]] const FatbinImage* choose_ptx(std::span<const FatbinImage> images, std::uint32_t arch);

}  // namespace lockstep::cuda
