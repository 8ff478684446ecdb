// `lockstep synth`: writes synthetic traces.
#include "synth/synth.hpp"

#include <fmt/format.h>

#include <string_view>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

constexpr const char* kUsage = "synth KIND [options]";

void print_kinds() {
  print_out("Usage: lockstep {}\n\nWrites a synthetic trace folder.\n\nKinds:\n", kUsage);
  for (const synth::Kind* kind : synth::kinds()) print_out("  {:<10} {}\n", kind->name, kind->summary);
  print_out("\n  lockstep synth KIND --help   the options of a kind\n");
}

std::string help_of(const synth::OptionSpec& option) {
  const std::string help(option.help);
  return option.choices.empty() ? help : fmt::format("{}: {}", help, option.choices);
}

}  // namespace

int run_synth(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--help" || first == "-h") {
    print_kinds();
    return kDone;
  }
  if (first.empty() || first.starts_with('-'))
    throw UserError(fmt::format("synth: KIND is missing (usage: lockstep {})", kUsage));
  const synth::Kind& kind = synth::find_kind(first);
  Syntax syntax;
  syntax.usage = fmt::format("synth {} [options]", kind.name);
  syntax.summary = fmt::format("Writes a synthetic trace folder: {}.", kind.summary);
  syntax.positionals = {"KIND"};
  auto add = syntax.options.add_options();
  add("out,o", po::value<std::string>()->default_value(fmt::format("synth-{}", kind.name)),
      "the folder to write; made when it is not there");
  for (const auto options : {kind.options, synth::common_options()})
    for (const synth::OptionSpec& o : options)
      add(std::string(o.name).c_str(), po::value<std::string>()->default_value(std::string(o.default_value)),
          help_of(o).c_str());
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  std::map<std::string, std::string> given;
  for (const auto options : {kind.options, synth::common_options()})
    for (const synth::OptionSpec& o : options) {
      const std::string name(o.name);
      given[name] = (*values)[name].as<std::string>();
    }
  const std::string out = (*values)["out"].as<std::string>();
  if (out.empty()) throw UserError("synth: --out: the folder's name is empty");
  synth::synthesize(kind.name, given, out);
  print_out("{} trace written to {}\n", kind.name, out);
  return kDone;
}

}  // namespace lockstep::cli
