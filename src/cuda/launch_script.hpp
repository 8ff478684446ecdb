// A launch script: what a host program would do with the kernels of a PTX file, as text; see
// docs/launch-script.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "util/types.hpp"

namespace lockstep::cuda {

enum class ElementType : std::uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64, kF32, kF64 };
[[nodiscard]] unsigned bytes_of(ElementType type);
[[nodiscard]] bool is_float(ElementType type);

/// A number as it stands in a script. Whole ones keep all 64 bits; negative ones are two's complement.
struct ScriptNumber {
  bool whole = true;
  std::uint64_t bits = 0;
  double real = 0;  // the value, rounded where it is whole and large
};

/// Elements of a buffer.
struct ScriptData {
  enum class Kind : std::uint8_t { kZero, kSequence, kRandom, kFile } kind = Kind::kZero;
  ElementType type = ElementType::kU8;
  ScriptNumber first, step;  // kSequence: element i is first + i * step
  std::uint64_t seed = 0;    // kRandom: splitmix64
  ScriptNumber low, high;    // kRandom: from low on, below high (whole numbers: up to high)
  std::string file;          // kFile: raw bytes, relative to the script's folder
};

struct ScriptBuffer {
  std::string name;
  std::uint64_t bytes = 0;
  ScriptData data;
};

/// A number, or a buffer's address and an offset.
struct ScriptArgument {
  std::string buffer;  // empty: a number
  std::uint64_t offset = 0;
  ScriptNumber number;
};

struct ScriptLaunch {
  std::string kernel;
  Dim3 grid, block;
  std::optional<Dim3> cluster;
  std::uint64_t shared = 0, stream = 0;
  bool cooperative = false;
  std::vector<ScriptArgument> arguments;
};

struct ScriptWait {};

struct ScriptExpect {
  std::string buffer;
  std::uint64_t offset = 0;
  ScriptData data;
  std::uint64_t count = 0;  // elements; 0: as many as there are
  double within = 0;        // |found - expected| <= within * max(1, |expected|)
};

struct ScriptPrint {
  std::string buffer;
  std::uint64_t offset = 0;
  ElementType type = ElementType::kU8;
  std::uint64_t count = 0;
};

struct ScriptStep {
  std::uint64_t line = 0;
  std::variant<ScriptBuffer, ScriptLaunch, ScriptWait, ScriptExpect, ScriptPrint> what;
};

struct LaunchScript {
  std::string file;  // as given, for messages
  std::vector<ScriptStep> steps;
};

/// Throws InputError naming file and line. Buffers are known before they are used and have one name each.
[[nodiscard]] LaunchScript read_launch_script(std::string_view text, const std::string& file);

}  // namespace lockstep::cuda
