// `lockstep stats`: what the statistics mean.
#include <fmt/format.h>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "config/value.hpp"
#include "stats/descriptors.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;

namespace {

std::string unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const stats::FieldHelp& row : stats::find_statistics("")) {
    names.emplace_back(row.name);
    names.emplace_back(row.name.substr(row.name.find('.') + 1));
  }
  return fmt::format("stats: no statistic's name contains '{}'{}", config::printable(name),
                     did_you_mean(name, names));
}

}  // namespace

int run_stats(int argc, char** argv) {
  const bool with_name = argc > 1 && argv[1][0] != '-';
  Syntax syntax;
  syntax.usage = "stats [NAME] [options]";
  syntax.summary = "Lists the statistics of a run, or those that NAME means: name, unit and meaning.";
  if (with_name) syntax.positionals = {"NAME"};
  syntax.options.add_options()(
      "explain", po::value<std::string>()->default_value(""),
      "same as NAME: the statistics whose names start with it, with or without their group: l1, "
      "stalls.wait, short_scoreboard")("json", "as JSON")("markdown", "docs/stats.md")(
      "schema", "docs/stats.schema.json, the JSON Schema of stats.json");
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  if (values->count("markdown")) {
    refuse_idle(*values, "stats", {"NAME", "explain", "json", "schema"},
                "with --markdown, the page on all statistics");
    print_out("{}", stats::markdown());
    return kDone;
  }
  if (values->count("schema")) {
    refuse_idle(*values, "stats", {"NAME", "explain", "json"},
                "with --schema, which is JSON and has all statistics");
    print_out("{}", stats::json_schema());
    return kDone;
  }
  if (with_name) refuse_idle(*values, "stats", {"explain"}, "with NAME: expected one of them");
  const std::string name = (*values)[with_name ? "NAME" : "explain"].as<std::string>();
  if (stats::find_statistics(name).empty()) throw UserError(unknown(name));
  print_out("{}", values->count("json") ? stats::descriptors_json(name) : stats::explain(name));
  return kDone;
}

}  // namespace lockstep::cli
