#include "cli/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "cli/cli.hpp"
#include "cli/options.hpp"
#include "cuda/settings.hpp"
#include "exec/check/finding.hpp"
#include "stats/files.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMaxExitCode = 255;

/// The reports of the program's processes, in order of their numbers.
std::vector<fs::path> reports(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("check.") && entry.path().extension() == ".json")
      files.push_back(entry.path());
  const auto order = [](const fs::path& p) { return std::pair(p.native().size(), p.native()); };
  std::sort(files.begin(), files.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return files;
}

}  // namespace

void add_check_options(po::options_description& options) {
  options.add_options()("check", po::value<std::string>(),
                        "look for errors in kernels: memory, init, race, leak (a list), or all, which is the "
                        "first three; see docs/checking.md")(
      "error-exitcode", po::value<std::string>(),
      "exit code if --check finds errors and the program itself ends with 0; 5 by default");
}

CheckArguments check_arguments(const po::variables_map& values) {
  CheckArguments arguments;
  if (values.count("check")) arguments.checks = exec::parse_checks(values["check"].as<std::string>());
  arguments.exit_code = kCheckFailed;
  if (!values.count("error-exitcode")) return arguments;
  if (!arguments.checks.any()) throw UserError("--error-exitcode: expected --check with it");
  arguments.exit_code = static_cast<int>(
      parse_number("--error-exitcode", values["error-exitcode"].as<std::string>(), 0, kMaxExitCode));
  return arguments;
}

void pass_checks(const CheckArguments& arguments, const std::string& folder) {
  if (!arguments.checks.any()) return;
  setenv(cuda::kChecksVariable, to_text(arguments.checks).c_str(), 1);
  setenv(cuda::kFindingsVariable, folder.c_str(), 1);
}

int report_checks(const CheckArguments& arguments, const std::string& folder, const std::string& out,
                  int code) {
  if (!arguments.checks.any()) return code;
  exec::Findings findings;
  for (const fs::path& file : reports(folder)) {
    std::ifstream in(file, std::ios::binary);
    findings.read({std::istreambuf_iterator<char>(in), {}});
  }
  std::string text = findings.to_text();
  const auto moves_cursor = [](char c) {
    return c != '\n' && (static_cast<unsigned char>(c) < ' ' || c == '\x7f');
  };
  std::replace_if(text.begin(), text.end(), moves_cursor, '?');  // of names of files
  print_err("{}", text);
  if (!out.empty()) {
    stats::make_folder(out);
    stats::write_file(out + "/check.json", findings.to_json(arguments.checks));
  }
  return code == kDone && findings.errors() > 0 ? arguments.exit_code : code;
}

}  // namespace lockstep::cli
