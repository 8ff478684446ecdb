// Synthetic traces: valid trace folders of any size, in the format of trace/kernel_trace.hpp's readers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::synth {

class TraceFolder;
class SynthOptions;

/// One option of a kind. The default determines the type: a number, or one of the words of `choices`.
struct OptionSpec {
  std::string_view name;
  std::string_view default_value;
  std::string_view help;
  std::uint64_t low = 0, high = 0;  // numbers: inclusive range
  std::string_view choices = {};    // words separated by '|'; empty = a number
};

/// A family of traces. To add one: a file that defines a Kind, and a line in registry.cpp.
struct Kind {
  std::string_view name;
  std::string_view summary;  // one line
  std::span<const OptionSpec> options;
  void (*generate)(const SynthOptions& options, TraceFolder& folder);
  /// Throws UserError for options that contradict each other; called before anything is written.
  void (*check)(const SynthOptions& options) = nullptr;
};

/// All kinds, in the order in which the help lists them.
[[nodiscard]] std::span<const Kind* const> kinds();
/// Finds a kind by name. Throws UserError that lists the kinds.
[[nodiscard]] const Kind& find_kind(std::string_view name);

/// Options that every kind has: compress, tracer-version, arch, line-info.
[[nodiscard]] std::span<const OptionSpec> common_options();

/// The options of one kind: given values, else defaults, all checked.
class SynthOptions {
 public:
  /// Throws UserError for an unknown name, and for a value that is not a number, out of range or not a
  /// choice.
  SynthOptions(const Kind& kind, const std::map<std::string, std::string>& given);

  [[nodiscard]] std::uint64_t number(std::string_view name) const;
  [[nodiscard]] std::uint32_t number32(std::string_view name) const;
  [[nodiscard]] const std::string& word(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// Writes the trace folder `out_dir`, creating it if necessary; existing files of the same names are
/// overwritten. Throws UserError if it cannot be written or an option is wrong.
void synthesize(std::string_view kind, const std::map<std::string, std::string>& options,
                const std::string& out_dir);

}  // namespace lockstep::synth
