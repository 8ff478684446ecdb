// `lockstep config`: the GPU models, resolved configurations, and what each parameter means.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "accelsim/translate.hpp"
#include "cli/accelsim.hpp"
#include "cli/assumed.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "config/config.hpp"
#include "config/gpu_models.hpp"
#include "config/markdown.hpp"
#include "config/schema.hpp"
#include "config/system_config.hpp"
#include "config/value.hpp"
#include "gpu/simulation.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

using Json = nlohmann::ordered_json;

void list_bundled() {
  for (const config::BundledConfig& p : config::gpu_models()) print_out("{:<12} {}\n", p.name, p.title);
  print_out("\nSystems of several\n");
  for (const config::BundledConfig& s : config::systems()) print_out("{:<12} {}\n", s.name, s.title);
  print_out(
      "\n`lockstep config GPU` prints all values, `--explain KEY` what one means and where it is "
      "from.\n");
}

Json named_json(std::span<const config::BundledConfig> list) {
  Json all = Json::array();
  for (const config::BundledConfig& p : list) all.push_back({{"name", p.name}, {"title", p.title}});
  return all;
}

void print_json(const Json& json) {
  print_out("{}\n", json.dump(1, ' ', false, Json::error_handler_t::replace));
}

/// The parameters whose key is `wanted`, or that are in this group; "" or "all": every one. With their
/// sources.
Json parameters_json(const std::string& wanted, const config::Resolved& resolved) {
  Json all = Json::object();
  for (const config::Parameter& p : config::schema()) {
    const bool inside =
        wanted.empty() || wanted == "all" || p.key == wanted || p.key.starts_with(wanted + ".");
    if (!inside) continue;
    Json& parameter = all[p.key] = {{"value", config::value_text(p, resolved.config)},
                                    {"unit", config::info(p.measure).name},
                                    {"help", p.help}};
    const auto origin = resolved.origins.find(p.key);
    if (origin == resolved.origins.end()) continue;
    parameter["place"] = origin->second.place;
    parameter["source"] = origin->second.note;
  }
  return all;
}

void print_one_json(const std::string& wanted, const config::Resolved& resolved) {
  if (!wanted.empty() && wanted != "all") (void)config::explain(wanted, resolved);  // names that do not exist
  print_json({{"schema", 1},
              {"gpu", resolved.config.gpu.name},
              {"config_hash", fmt::format("{:016x}", config::hash(resolved.config))},
              {"parameters", parameters_json(wanted, resolved)}});
}

Syntax config_syntax(bool with_gpu) {
  Syntax syntax;
  syntax.usage = "config [GPU] [options]";
  syntax.summary =
      "Lists the GPU models and systems; with GPU (a name or an INI file) prints the resolved "
      "configuration.";
  if (with_gpu) syntax.positionals = {"GPU"};
  auto add = syntax.options.add_options();
  add("config,c", po::value<std::string>(), "the GPU, if it is not the first argument");
  add("set", po::value<std::vector<std::string>>()->composing(), "KEY=VALUE, may be repeated; the last wins");
  add("explain", po::value<std::string>(),
      "a key, a group (l1, pipe.fp32; of a system a section: nic), all, or, of a GPU, window: the channels "
      "and the longest window");
  add("assumed", "the values that are neither measured nor published, with the reason given for each");
  add("influence", po::value<std::vector<std::string>>()->multitoken()->composing(),
      "with --assumed: a TRACE, may be repeated; the cycles of its whole run with half and double of each "
      "value");
  add("json", "as JSON; with --explain, the parameters that it names");
  add("markdown", "the page docs/config.md; for a built-in GPU, docs/config/GPU.md");
  add("accelsim-markdown", "docs/accelsim.md");
  add("strict", "treat unknown Accel-Sim options as errors");
  add_accelsim_option(syntax.options);
  syntax.notes = "Without GPU, --set, --explain and --assumed refer to v100.";
  return syntax;
}

/// Empty where none is named.
std::string gpu_of(const po::variables_map& values) {
  for (const char* name : {"GPU", "config"}) {
    if (values.count(name)) return values[name].as<std::string>();
  }
  return "";
}

std::string explanation(const std::string& wanted, const config::Resolved& resolved) {
  if (wanted == "window") return gpu::explain_window(resolved.config);
  return config::explain(wanted == "all" ? "" : wanted, resolved);
}

/// Refuses what would have no effect.
void check_combination(const po::variables_map& values) {
  if (values.count("GPU") && values.count("config"))
    throw UserError(fmt::format("config: two GPUs, '{}' and --config '{}'; expected one",
                                values["GPU"].as<std::string>(), values["config"].as<std::string>()));
  if (values.count("config") && values["config"].as<std::string>().empty())
    throw UserError(config::unknown_gpu(""));
  if (values.count("accelsim-markdown"))
    refuse_idle(values, "config", {"GPU", "config"}, "with --accelsim-markdown, a page on all GPUs");
  for (const char* page : {"markdown", "accelsim-markdown"}) {
    if (!values.count(page)) continue;
    refuse_idle(values, "config",
                {"set", "explain", "strict", "accelsim-config", "json", "assumed", "influence"},
                fmt::format("with --{}, a page of the documents", page));
  }
  if (values.count("markdown"))
    refuse_idle(values, "config", {"accelsim-markdown"}, "with --markdown: expected one of them");
  if (!values.count("assumed")) refuse_idle(values, "config", {"influence"}, "without --assumed");
  if (values.count("assumed"))
    refuse_idle(values, "config", {"explain", "accelsim-config"}, "with --assumed: expected one of them");
  if (!values.count("accelsim-config"))
    refuse_idle(values, "config", {"strict"}, "without --accelsim-config");
}

void print_assumptions(const po::variables_map& values, const std::string& gpu,
                       const std::vector<std::string>& overrides) {
  const std::string base = gpu.empty() ? "v100" : gpu;
  AssumedRequest request;
  request.resolved = config::resolve_with_origins(base, {}, overrides);
  request.with = [&](const std::string& assignment) {
    std::vector<std::string> all = overrides;
    all.push_back(assignment);
    return config::resolve(base, all);
  };
  if (values.count("influence")) request.traces = values["influence"].as<std::vector<std::string>>();
  request.json = values.count("json") > 0;
  print_assumed(request);
}

void print_one(const po::variables_map& values) {
  std::vector<std::string> overrides;
  if (values.count("set")) overrides = values["set"].as<std::vector<std::string>>();
  const std::string gpu = gpu_of(values);
  if (config::means_system(gpu)) {
    refuse_idle(values, "config", {"accelsim-config", "json", "assumed"},
                "with a system: expected one of its devices");
    const config::SystemConfig system = config::resolve_system(gpu, 0, overrides);
    if (!values.count("explain")) return print_out("{}", config::to_ini(system));
    const std::string wanted = values["explain"].as<std::string>();
    return print_out("{}", config::explain(wanted == "all" ? "" : wanted, system));
  }
  if (values.count("assumed")) return print_assumptions(values, gpu, overrides);
  const auto accelsim = accelsim_config(values, gpu, overrides, values.count("strict") > 0);
  const config::Resolved resolved =
      accelsim ? accelsim->resolved : config::resolve_with_origins(gpu.empty() ? "v100" : gpu, {}, overrides);
  const std::string wanted = values.count("explain") ? values["explain"].as<std::string>() : "";
  if (values.count("json")) {
    if (wanted == "window")
      throw UserError("config: --json has no effect with --explain window, which is a text");
    print_one_json(wanted, resolved);
  } else if (values.count("explain")) {
    print_out("{}", explanation(wanted, resolved));
  } else if (accelsim) {
    print_out("{}", accelsim->report);
  } else {
    print_out("; {}, configuration hash {:016x}\n{}", resolved.config.gpu.name, config::hash(resolved.config),
              config::to_ini(resolved.config));
  }
}

/// The page on all built-in GPUs (empty), or on one of them.
void print_page(const std::string& gpu) {
  if (gpu.empty()) return print_out("{}", config::markdown());
  for (const config::BundledConfig& p : config::gpu_models())
    if (p.name == gpu)
      return print_out("{}", config::markdown_of(config::resolve_with_origins(gpu), p.title));
  throw UserError(
      fmt::format("config: --markdown of '{}': expected a GPU that `lockstep config` lists", gpu));
}

}  // namespace

int run_config(int argc, char** argv) {
  const bool with_gpu = argc > 1 && argv[1][0] != '-';
  const auto values = parse(argc, argv, config_syntax(with_gpu));
  if (!values) return kDone;
  check_combination(*values);
  if (const std::string gpu = gpu_of(*values); config::find(gpu).parameter)
    throw UserError(fmt::format(
        "config: '{}' is a parameter, expected a GPU; --explain {} says what it means", gpu, gpu));
  const bool about_one = with_gpu || values->count("config") || values->count("set") ||
                         values->count("explain") || values->count("accelsim-config") ||
                         values->count("assumed");
  if (values->count("markdown")) {
    print_page(gpu_of(*values));
  } else if (values->count("accelsim-markdown")) {
    print_out("{}", accelsim::markdown());
  } else if (!about_one && values->count("json")) {
    print_json({{"schema", 1},
                {"gpus", named_json(config::gpu_models())},
                {"systems", named_json(config::systems())}});
  } else if (!about_one) {
    list_bundled();
  } else {
    print_one(*values);
  }
  return kDone;
}

}  // namespace lockstep::cli
