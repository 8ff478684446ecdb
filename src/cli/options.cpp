#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <sstream>

#include "util/console.hpp"
#include "util/edit_distance.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

std::vector<std::string> option_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  return names;
}

void print_help(const Syntax& syntax) {
  std::ostringstream options;
  options << syntax.options;
  print_out("Usage: lockstep {}\n\n{}\n\n{}", syntax.usage, syntax.summary, options.str());
  if (!syntax.notes.empty()) print_out("\n{}\n", syntax.notes);
}

po::variables_map parse_all(int argc, char** argv, const po::options_description& all,
                            const po::positional_options_description& positions) {
  po::variables_map values;
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::store(po::command_line_parser(argc, argv).options(all).positional(positions).style(style).run(),
            values);
  po::notify(values);
  return values;
}

}  // namespace

std::optional<po::variables_map> parse(int argc, char** argv, const Syntax& syntax) {
  Syntax full = syntax;
  full.options.add_options()("help,h", "print this help");
  po::options_description hidden;
  po::positional_options_description positions;
  for (const auto& name : syntax.positionals) {
    hidden.add_options()(name.c_str(), po::value<std::string>());
    positions.add(name.c_str(), 1);
  }
  if (!syntax.rest.empty()) {
    hidden.add_options()(syntax.rest.c_str(), po::value<std::vector<std::string>>());
    positions.add(syntax.rest.c_str(), -1);
  }
  po::options_description all;
  all.add(full.options).add(hidden);
  const std::string command = argv[0];
  try {
    po::variables_map values = parse_all(argc, argv, all, positions);
    if (values.count("help")) {
      print_help(full);
      return std::nullopt;
    }
    const bool replaced = !syntax.instead.empty() && values.count(syntax.instead);
    for (const auto& name : syntax.positionals) {
      if (replaced && values.count(name))
        throw UserError(
            fmt::format("{}: found {} and --{}; expected one of them", command, name, syntax.instead));
      if (!replaced && !values.count(name)) {
        throw UserError(fmt::format("{}: {} is missing (usage: lockstep {})", command, name, syntax.usage));
      }
      if (!replaced && values[name].as<std::string>().empty())
        throw UserError(fmt::format("{}: {} is empty (usage: lockstep {})", command, name, syntax.usage));
    }
    return values;
  } catch (const po::too_many_positional_options_error&) {
    throw UserError(fmt::format("{}: too many arguments (usage: lockstep {})", command, syntax.usage));
  } catch (const po::unknown_option& e) {
    const std::string name = e.get_option_name();
    throw UserError(fmt::format("{}: unknown option '{}'{}", command, name,
                                did_you_mean(name, option_names(full.options))));
  } catch (const po::error& e) {
    throw UserError(fmt::format("{}: {}", command, e.what()));
  }
}

void refuse_idle(const po::variables_map& values, std::string_view command,
                 std::initializer_list<const char*> names, std::string_view why) {
  std::string given;
  unsigned count = 0;
  for (const std::string name : names) {
    if (!values.count(name) || values[name].defaulted()) continue;
    const bool argument = name[0] >= 'A' && name[0] <= 'Z';  // as GPU
    given.append(count++ == 0 ? "" : ", ").append(argument ? "" : "--").append(name);
  }
  if (count == 0) return;
  throw UserError(fmt::format("{}: {} {} no effect {}", command, given, count == 1 ? "has" : "have", why));
}

std::uint64_t parse_number(std::string_view name, std::string_view text, std::uint64_t low,
                           std::uint64_t high) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    throw UserError(
        fmt::format("{}: found '{}', expected a whole number from {} to {}", name, text, low, high));
  }
  return value;
}

double parse_fraction(std::string_view name, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0) {
    throw UserError(fmt::format("{}: found '{}', expected a number of 0 or more, such as 0.01", name, text));
  }
  return value;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return "";  // nothing of ours is that long
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t d = edit_distance(word, candidate);
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
}

}  // namespace lockstep::cli
