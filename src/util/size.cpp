#include "util/size.hpp"

#include <fmt/format.h>

#include <iterator>

namespace lockstep {

std::string size_text(std::uint64_t bytes) {
  auto value = static_cast<double>(bytes);
  constexpr double kShownAsNext = 1023.95;  // with one decimal it would be 1024.0
  unsigned unit = 0;
  for (; value >= (unit == 0 ? 1024 : kShownAsNext) && unit + 1 < std::size(kSizeUnits); ++unit)
    value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kSizeUnits[unit].name);
}

}  // namespace lockstep
