#include "cli/trace_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

trace::DeviceFolder parse_folder(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    throw UserError(fmt::format("--device: found '{}', expected N=FOLDER, such as 0=traces/gpu0", text));
  const std::uint64_t device =
      parse_number("--device", text.substr(0, equals), 0, trace::kMaxDeviceFolders - 1);
  return {static_cast<std::uint16_t>(device), std::string(text.substr(equals + 1))};
}

}  // namespace

void add_trace_argument(Syntax& syntax) {
  syntax.positionals = {"TRACE"};
  syntax.instead = "device";
  syntax.options.add_options()(
      "device", po::value<std::vector<std::string>>()->composing(),
      "N=FOLDER: the trace of device N of a system, in place of TRACE; once per device, from 0");
}

TraceArgument trace_argument(const po::variables_map& values) {
  TraceArgument argument;
  if (!values.count("device")) {
    argument.path = values["TRACE"].as<std::string>();
    return argument;
  }
  for (const std::string& text : values["device"].as<std::vector<std::string>>())
    argument.folders.push_back(parse_folder(text));
  std::ranges::stable_sort(argument.folders, {}, &trace::DeviceFolder::device);
  for (std::size_t d = 0; d < argument.folders.size(); ++d) {
    const std::size_t found = argument.folders[d].device;
    if (found < d) throw UserError(fmt::format("--device: {} is given twice", found));
    if (found > d)
      throw UserError(fmt::format("--device: {} is missing; expected 0 to {}, each once", d, found));
  }
  return argument;
}

std::unique_ptr<trace::TraceSet> open(const TraceArgument& argument, const trace::OpenOptions& options) {
  return argument.folders.empty() ? trace::open_trace(argument.path, options)
                                  : trace::open_device_folders(argument.folders, options);
}

}  // namespace lockstep::cli
