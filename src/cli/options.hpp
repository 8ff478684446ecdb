// Option parsing that all subcommands share: strict, with suggestions, and help in one form.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

/// What a subcommand takes. `--help` is added to every one.
struct Syntax {
  std::string usage;                     // "run TRACE [options]"
  std::string summary;                   // one line
  std::vector<std::string> positionals;  // each is required once; read as values["TRACE"].as<std::string>()
  std::string instead = {};  // an option that takes the place of the positionals; empty = none does
  std::string rest = {};     // any more arguments, as a std::vector<std::string>; empty = none are taken
  boost::program_options::options_description options{"Options", 100};
  std::string notes;  // printed after the options; may be empty
};

/// Parses argv[1..]. Prints the help and returns nullopt for --help. Throws UserError for an unknown option
/// (with "did you mean"), a missing value, a missing or surplus argument.
[[nodiscard]] std::optional<boost::program_options::variables_map> parse(int argc, char** argv,
                                                                         const Syntax& syntax);

/// Throws UserError when any of the options or arguments `names` was given: each would be read and then
/// ignored. `why` follows "has no effect": "with --functional: nothing is simulated".
void refuse_idle(const boost::program_options::variables_map& values, std::string_view command,
                 std::initializer_list<const char*> names, std::string_view why);

/// The value of option `name` as an unsigned number in [low, high]; throws UserError naming option and range.
[[nodiscard]] std::uint64_t parse_number(std::string_view name, std::string_view text, std::uint64_t low,
                                         std::uint64_t high);

/// A relative tolerance or the like: a finite decimal number >= 0.
[[nodiscard]] double parse_fraction(std::string_view name, std::string_view text);

/// "; did you mean 'X'?" for the nearest of `candidates`, or "" when none is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lockstep::cli
