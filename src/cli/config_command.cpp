// `lockstep config`: the products, resolved configurations, and what each parameter means.
#include <fmt/format.h>

#include "accelsim/translate.hpp"
#include "cli/accelsim.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "config/config.hpp"
#include "config/products.hpp"
#include "config/system_config.hpp"
#include "gpu/simulation.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

void list_products() {
  for (const config::Product& p : config::products()) print_out("{:<12} {}\n", p.name, p.title);
  print_out("\nSystems of several\n");
  for (const config::Product& s : config::systems()) print_out("{:<12} {}\n", s.name, s.title);
  print_out(
      "\n`lockstep config PRODUCT` prints all values, `--explain KEY` what one means and where it is "
      "from.\n");
}

Syntax config_syntax(bool with_product) {
  Syntax syntax;
  syntax.usage = "config [PRODUCT] [options]";
  syntax.summary =
      "Lists the products and systems; with PRODUCT (a name or an INI file) prints the resolved "
      "configuration.";
  if (with_product) syntax.positionals = {"PRODUCT"};
  auto add = syntax.options.add_options();
  add("config,c", po::value<std::string>(), "the product, where it is not the first argument");
  add("set", po::value<std::vector<std::string>>()->composing(), "KEY=VALUE, may be repeated; the last wins");
  add("explain", po::value<std::string>(),
      "a key, a group (l1, pipe.fp32), all, or window: the channels and the longest window");
  add("markdown", "docs/config.md");
  add("accelsim-markdown", "docs/accelsim.md");
  add("strict", "an Accel-Sim option that is not known is an error");
  add_accelsim_option(syntax.options);
  syntax.notes = "Without PRODUCT, --set and --explain refer to v100.";
  return syntax;
}

/// Empty where none is named.
std::string product_of(const po::variables_map& values) {
  for (const char* name : {"PRODUCT", "config"}) {
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
  if (values.count("PRODUCT") && values.count("config"))
    throw UserError(fmt::format("config: two GPUs, '{}' and --config '{}'; expected one",
                                values["PRODUCT"].as<std::string>(), values["config"].as<std::string>()));
  for (const char* page : {"markdown", "accelsim-markdown"}) {
    if (!values.count(page)) continue;
    refuse_idle(values, "config", {"PRODUCT", "config", "set", "explain", "strict", "accelsim-config"},
                fmt::format("with --{}, a page on all GPUs", page));
  }
  if (values.count("markdown"))
    refuse_idle(values, "config", {"accelsim-markdown"}, "with --markdown: expected one of them");
  if (!values.count("accelsim-config"))
    refuse_idle(values, "config", {"strict"}, "without --accelsim-config");
}

void print_one(const po::variables_map& values) {
  std::vector<std::string> overrides;
  if (values.count("set")) overrides = values["set"].as<std::vector<std::string>>();
  const std::string product = product_of(values);
  if (config::means_system(product)) {
    refuse_idle(values, "config", {"explain", "accelsim-config"},
                "with a system: expected one of its devices");
    return print_out("{}", config::to_ini(config::resolve_system(product, 0, overrides)));
  }
  const auto accelsim = accelsim_config(values, product, overrides, values.count("strict") > 0);
  const config::Resolved resolved =
      accelsim ? accelsim->resolved
               : config::resolve_with_origins(product.empty() ? "v100" : product, {}, overrides);
  if (values.count("explain")) {
    print_out("{}", explanation(values["explain"].as<std::string>(), resolved));
  } else if (accelsim) {
    print_out("{}", accelsim->report);
  } else {
    print_out("; {}, configuration hash {:016x}\n{}", resolved.config.gpu.name, config::hash(resolved.config),
              config::to_ini(resolved.config));
  }
}

}  // namespace

int run_config(int argc, char** argv) {
  const bool with_product = argc > 1 && argv[1][0] != '-';
  const auto values = parse(argc, argv, config_syntax(with_product));
  if (!values) return kDone;
  check_combination(*values);
  const bool about_one = with_product || values->count("config") || values->count("set") ||
                         values->count("explain") || values->count("accelsim-config");
  if (values->count("markdown")) {
    print_out("{}", config::markdown());
  } else if (values->count("accelsim-markdown")) {
    print_out("{}", accelsim::markdown());
  } else if (!about_one) {
    list_products();
  } else {
    print_one(*values);
  }
  return kDone;
}

}  // namespace lockstep::cli
