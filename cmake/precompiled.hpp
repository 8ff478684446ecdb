// What most files of src/ include, parsed once for each group of libraries with LOCKSTEP_PCH. Files go on to include
// what they use: `./dev` builds are without where there is a compiler cache, and so are those of CMake alone.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
