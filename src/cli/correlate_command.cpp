// `lockstep correlate`: simulated runs against measurements of hardware.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/options.hpp"
#include "correlate/correlation.hpp"
#include "correlate/measurements.hpp"
#include "correlate/pairs_file.hpp"
#include "stats/files.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

namespace fs = std::filesystem;
using correlate::Matched;

struct Named {
  std::string program;  // empty: not said
  std::string path;
};

/// "PROGRAM=PATH" or "PATH": a path that is there is one, also with "=" in it.
Named named(const std::string& text) {
  std::error_code ignored;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || fs::exists(text, ignored)) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<correlate::SimulatedProgram> load_programs(const std::vector<std::string>& runs) {
  std::vector<correlate::SimulatedProgram> programs;
  for (const std::string& run : runs) {
    const Named name = named(run);
    programs.push_back(correlate::load_program(name.path, name.program));
    for (std::size_t i = 0; i + 1 < programs.size(); ++i)
      if (programs[i].program == programs.back().program)
        throw UserError(fmt::format("correlate: two runs are of '{}'; expected PROGRAM=FOLDER for each",
                                    programs.back().program));
  }
  return programs;
}

/// Whose measurements a file has where it does not say so itself.
std::string program_of(const Named& file, const std::vector<correlate::SimulatedProgram>& programs,
                       const correlate::Measurements& measured) {
  if (!file.program.empty()) return file.program;
  if (programs.size() == 1) return programs.front().program;
  const std::string stem = fs::path(file.path).stem().string();
  const auto found = std::ranges::find(programs, stem, &correlate::SimulatedProgram::program);
  if (found != programs.end()) return stem;
  if (std::ranges::any_of(measured.launches, [](const auto& m) { return m.program.empty(); }))
    throw UserError(
        fmt::format("{}: does not say which of the {} runs it measures; expected PROGRAM={} or a column "
                    "`program`",
                    file.path, programs.size(), file.path));
  return "";
}

/// Files of pairs, in place of runs and measurements.
Matched matched_in(const std::vector<std::string>& files) {
  Matched matched;
  for (const std::string& file : files) {
    if (!file.ends_with(".csv"))
      throw UserError(fmt::format(
          "correlate: --hardware FILE is missing: {} is not a CSV file of pairs, which needs none", file));
    std::ranges::move(correlate::read_pairs(file), std::back_inserter(matched.pairs));
  }
  if (matched.pairs.empty()) throw UserError("correlate: there is no pair in the files");
  return matched;
}

void append(Matched& all, Matched more) {
  std::ranges::move(more.pairs, std::back_inserter(all.pairs));
  std::ranges::move(more.unmatched, std::back_inserter(all.unmatched));
  all.unmeasured += more.unmeasured;
}

/// A counter's file in the folder of plots: files of pairs may name counters as they like. What stands in no
/// file's name is '_'; `taken` has the names so far.
std::string plot_name(const std::string& counter, std::set<std::string>& taken) {
  constexpr std::size_t kLongest = 100;
  std::string name = counter.substr(0, kLongest);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    if (std::isalnum(c) == 0 && c != '_' && c != '-' && (c != '.' || i == 0)) name[i] = '_';
  }
  if (name.empty()) name = "_";
  const std::string first = name;
  for (unsigned n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}-{}", first, n);
  return name + ".svg";
}

void write_plots(const correlate::Correlation& correlation, const std::string& folder) {
  stats::make_folder(folder);
  std::set<std::string> taken;
  for (const correlate::Group& group : correlation.by_counter)
    stats::write_file(fmt::format("{}/{}", folder, plot_name(group.counter, taken)),
                      correlate::scatter_plot(correlation, group.counter));
}

/// Runs beside the measurements of --hardware.
Matched matched_with(const std::vector<std::string>& runs, const std::vector<std::string>& hardware,
                     std::set<std::string>& unknown) {
  const auto programs = load_programs(runs);
  Matched matched;
  for (const std::string& text : hardware) {
    const Named file = named(text);
    const correlate::Measurements measured = correlate::read_measurements(file.path);
    append(matched, correlate::match(programs, measured, file.path, program_of(file, programs, measured)));
    unknown.insert(measured.unknown.begin(), measured.unknown.end());
  }
  if (matched.pairs.empty())
    throw UserError(fmt::format("correlate: no measurement has a counterpart in the runs{}",
                                matched.unmatched.empty() ? "" : "; " + matched.unmatched.front()));
  return matched;
}

Syntax correlate_syntax() {
  Syntax syntax;
  syntax.usage = "correlate RUN... --hardware FILE [options], or correlate PAIRS.csv... [options]";
  syntax.summary =
      "Compares runs with measurements of a GPU: errors and correlation, by counter and by program.";
  syntax.positionals = {"RUN"};
  syntax.rest = "others";
  syntax.options.add_options()(
      "hardware", po::value<std::vector<std::string>>()->composing(),
      "measurements: CSV of ncu or nsys, or in the simulator's own form; repeatable")(
      "plots", po::value<std::string>(), "folder for a scatter plot of each counter")(
      "csv", po::value<std::string>(), "file for all pairs of values")(
      "pairs", "all pairs of values in the text")("json", "all as JSON");
  syntax.notes =
      "RUN: a result folder or stats.json; PROGRAM=RUN names its program, else the trace's name does. FILE:\n"
      "PROGRAM=FILE where it is of one of several programs. PAIRS.csv: measured and simulated values beside "
      "each\n"
      "other, as --csv writes them. docs/studies/correlate.md describes the files.";
  return syntax;
}

std::optional<std::string> named_output(const po::variables_map& values, const char* option) {
  if (!values.count(option)) return std::nullopt;
  const auto& name = values[option].as<std::string>();
  if (name.empty()) throw UserError(fmt::format("--{}: the name is empty", option));
  return name;
}

/// Refuses to write the table over what is compared.
void check_table_name(const std::string& csv, const std::vector<std::string>& runs,
                      const po::variables_map& values) {
  for (const std::string& run : runs) {
    const std::string path = named(run).path;
    refuse_overwriting("--csv", csv, is_file_of_results(csv, path) || is_same_file(csv, path));
  }
  if (!values.count("hardware")) return;
  for (const std::string& text : values["hardware"].as<std::vector<std::string>>())
    refuse_overwriting("--csv", csv, is_same_file(csv, named(text).path));
}

}  // namespace

int run_correlate(int argc, char** argv) {
  const Syntax syntax = correlate_syntax();
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  if (values->count("json")) refuse_idle(*values, "correlate", {"pairs"}, "with --json, which has all pairs");
  std::vector<std::string> runs{(*values)["RUN"].as<std::string>()};
  if (values->count(syntax.rest)) {
    const auto& others = (*values)[syntax.rest].as<std::vector<std::string>>();
    runs.insert(runs.end(), others.begin(), others.end());
  }
  const auto plots = named_output(*values, "plots"), csv = named_output(*values, "csv");
  if (csv) check_table_name(*csv, runs, *values);
  std::set<std::string> unknown;
  Matched matched = values->count("hardware")
                        ? matched_with(runs, (*values)["hardware"].as<std::vector<std::string>>(), unknown)
                        : matched_in(runs);
  const auto correlation = correlate::correlate(std::move(matched), {unknown.begin(), unknown.end()});
  if (plots) write_plots(correlation, *plots);
  if (csv) stats::write_file(*csv, correlate::to_csv(correlation));
  print_out("{}", values->count("json") ? correlate::to_json(correlation)
                                        : correlate::to_text(correlation, values->count("pairs") > 0));
  return kDone;
}

}  // namespace lockstep::cli
