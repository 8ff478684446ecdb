// Modules -> Program: external names resolved, dense ids.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::ptx {

/// Functions that the device runtime provides rather than PTX: vprintf, malloc, free, __assertfail, CDP2 and
/// the like.
[[nodiscard]] std::span<const std::string_view> runtime_functions();

struct LinkOptions {
  std::span<const std::string_view> provided = runtime_functions();  // external functions that need no body
};

/// .visible resolves .extern; of several .weak one remains, a strong definition wins; .common ones merge, the
/// largest remains; names without linkage stay private to their module. Throws InputError: undefined (only
/// where used), defined twice, declared with other parameters, type, space or size than defined.
[[nodiscard]] Program link(std::vector<Module> modules, const LinkOptions& options = {});

}  // namespace lockstep::ptx
