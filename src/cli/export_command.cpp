// `lockstep export`: what a simulated run has done, for simulators of larger systems.
#include <fmt/format.h>

#include <algorithm>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/options.hpp"
#include "config/value.hpp"
#include "export/formats.hpp"
#include "export/make_graph.hpp"
#include "export/results.hpp"
#include "trace/kernel_trace.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

const exporter::Format& format_of(const std::string& name) {
  std::vector<std::string> names;
  std::string list;
  for (const exporter::Format& format : exporter::formats()) {
    if (format.name == name) return format;
    list.append(names.empty() ? "" : ", ").append(format.name);
    names.emplace_back(format.name);
  }
  throw UserError(fmt::format("export: unknown format '{}'{}; expected one of {}", config::printable(name),
                              did_you_mean(name, names), list));
}

std::string format_lines() {
  std::string text = "Formats:\n";
  for (const exporter::Format& format : exporter::formats())
    text += fmt::format("  {:<8} {}\n", format.name, format.files);
  return text;
}

std::string summary_of(const exporter::Graph& graph) {
  using Kind = exporter::Node::Kind;
  const auto sends = std::ranges::count(graph.nodes, Kind::kSend, &exporter::Node::kind);
  const auto computations = std::ranges::count(graph.nodes, Kind::kCompute, &exporter::Node::kind);
  return fmt::format("{} ranks, {} computations, {} messages", graph.ranks, computations, sends);
}

}  // namespace

int run_export(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "export FORMAT RECORDING RESULTS -o WHERE";
  syntax.summary = "Writes the kernels' times and the messages of a run as a trace for other simulators.";
  syntax.positionals = {"FORMAT", "RECORDING", "RESULTS"};
  syntax.options.add_options()("output,o", po::value<std::string>(),
                               "WHERE: the file, or what the files' names begin with");
  syntax.notes =
      format_lines() +
      "RECORDING: a trace, as of `run`. RESULTS: the folder with the results (-o) of its whole run.";
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  const exporter::Format& format = format_of((*values)["FORMAT"].as<std::string>());
  if (!values->count("output")) throw UserError("export: -o WHERE is missing: where to write");
  const auto& out = (*values)["output"].as<std::string>();
  if (out.empty()) throw UserError("export: -o WHERE: the name is empty");
  const auto& recording = (*values)["RECORDING"].as<std::string>();
  const auto& folder = (*values)["RESULTS"].as<std::string>();
  const auto trace = trace::open_trace(recording);
  exporter::Results results(folder, *trace);
  const exporter::Graph graph = exporter::make_graph(*trace, results);
  const auto files = format.write(graph, out);
  for (const exporter::File& file : files)
    refuse_overwriting("export: -o WHERE", file.path,
                       is_file_of_trace(file.path, recording) || is_file_of_results(file.path, folder));
  exporter::write_files(files);
  print_out("{}{}: {}\n", files.front().path,
            files.size() > 1 ? fmt::format(" to {}", files.back().path) : "", summary_of(graph));
  return kDone;
}

}  // namespace lockstep::cli
