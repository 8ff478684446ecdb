#include "cuda/access_window.hpp"

#include <cmath>

#include "cuda/api.hpp"
#include "util/types.hpp"

namespace lockstep::cuda {

trace::L2Launch window_of(const abi::LaunchAttribute::Value& value, std::uint32_t arch) {
  // enum cudaAccessProperty. Misses cannot persist; their normal is no demotion (libcu++, __access_property).
  constexpr L2Priority kOfHits[] = {L2Priority::kNormal, L2Priority::kFirst, L2Priority::kLast};
  constexpr L2Priority kOfMisses[] = {L2Priority::kPlain, L2Priority::kFirst};
  const auto& given = value.window;
  require(given.bytes <= kMaxWindowBytes && given.ratio >= 0 && given.ratio <= 1);
  require(given.hit >= 0 && given.hit < 3 && given.miss >= 0 && given.miss < 2);
  trace::L2Launch window;
  if (arch < kWindowArch || given.bytes == 0) return window;
  window.base = reinterpret_cast<Address>(given.base);
  window.bytes = given.bytes;
  window.ratio = static_cast<std::uint32_t>(std::lround(given.ratio * float{trace::L2Launch::kWhole}));
  window.hit = kOfHits[given.hit];
  window.miss = kOfMisses[given.miss];
  return window;
}

}  // namespace lockstep::cuda
