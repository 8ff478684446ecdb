// `lockstep report`: a page on where a run's time goes.
#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/options.hpp"
#include "report/page.hpp"
#include "stats/files.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;

int run_report(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "report RUN [RUN2] [options]";
  syntax.summary =
      "Writes a page on where the time of RUN goes: a result folder of `lockstep run -o` or `exec -o`.\n"
      "With RUN2, both side by side with their differences.";
  syntax.positionals = {"RUN"};
  syntax.rest = "RUN2";
  syntax.options.add_options()("out,o", po::value<std::string>()->default_value("report.html"),
                               "the page: one HTML file that needs no other")(
      "json", "no page: the bottleneck of each kernel as JSON on standard output");
  syntax.notes =
      "The runs' --profile adds instructions with PTX and source lines, --interval what happened over time.";
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  std::vector<std::string> folders{(*values)["RUN"].as<std::string>()};
  if (values->count(syntax.rest)) {
    const auto& others = (*values)[syntax.rest].as<std::vector<std::string>>();
    if (others.size() > 1) throw UserError("report: found more than two runs, expected RUN or RUN RUN2");
    folders.push_back(others.front());
  }
  const bool json = values->count("json") > 0;
  if (json && !(*values)["out"].defaulted())
    throw UserError("report: --out has no effect with --json: no page is written");
  const auto& out = (*values)["out"].as<std::string>();
  if (out.empty()) throw UserError("--out: the file's name is empty");
  for (const std::string& folder : folders)
    if (!json) refuse_overwriting("--out", out, is_file_of_results(out, folder));
  std::vector<report::Run> runs;
  for (const std::string& folder : folders) runs.push_back(report::load(folder));
  if (json) {
    print_out("{}", report::bottlenecks_json(runs));
    return kDone;
  }
  stats::write_file(out, report::page(runs));
  print_out("report in {}\n", out);
  return kDone;
}

}  // namespace lockstep::cli
