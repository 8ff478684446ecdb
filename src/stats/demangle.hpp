// Names of C++ functions as the C++ runtime's demangler writes them.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::stats {

/// The declaration behind a mangled name, "void scale<float>(float*, int)", by abi::__cxa_demangle. Empty
/// where `name` is not mangled, is longer than the demangler takes (1024 characters in GCC's runtime), or
/// stands for more than 64 KiB of text. Remembers its answers; for one thread at a time.
[[nodiscard]] const std::string& demangled(const std::string& name);

}  // namespace lockstep::stats
