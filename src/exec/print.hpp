// Formatting of vprintf: a format string and the arguments as the device laid them out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "util/types.hpp"

namespace lockstep::exec {

/// `argument(offset, bytes)` reads the argument buffer, `text(address)` a string. Arguments lie at their
/// natural alignment: 4 bytes for int and char, 8 for long, double and pointers (CUDA C++ Programming Guide,
/// formatted output). Unknown conversions are copied as they are. Returns the number of arguments taken.
int format_device(std::string_view format,
                  const std::function<std::uint64_t(std::uint32_t, std::uint32_t)>& argument,
                  const std::function<std::string(Address)>& text, std::string& out);

}  // namespace lockstep::exec
