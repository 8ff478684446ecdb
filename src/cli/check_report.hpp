// `--check` of `exec` and `run --launch`: asks the program's process for the checks and reports what they
// found.
#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "exec/check/checks.hpp"

namespace lockstep::cli {

struct CheckArguments {
  exec::Checks checks;  // none: nothing is checked
  int exit_code = 0;    // where errors were found and the program ended with 0
};

void add_check_options(boost::program_options::options_description& options);
/// Throws UserError.
[[nodiscard]] CheckArguments check_arguments(const boost::program_options::variables_map& values);

/// For the program that is started next. `folder`: for its findings.
void pass_checks(const CheckArguments& arguments, const std::string& folder);
/// After its end, where anything was checked: says on stderr what was found in `folder`, and keeps it as
/// check.json in folder `out` unless that is empty. Gives the exit code, of which `code` is the program's.
[[nodiscard]] int report_checks(const CheckArguments& arguments, const std::string& folder,
                                const std::string& out, int code);

}  // namespace lockstep::cli
