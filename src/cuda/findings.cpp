// The file with what the checks of this process have found.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cuda/runtime.hpp"

namespace lockstep::cuda {

void Runtime::save_findings() {
  if (!checker_) return;
  const exec::Findings& findings = checker_->findings();
  const std::uint64_t found = findings.errors() + findings.warnings();
  if (found == saved_findings_) return;
  saved_findings_ = found;
  const std::string path = fmt::format("{}/check.{}.json", settings.findings, ::getpid());
  const std::string unfinished = path + ".part";
  std::error_code error;
  std::ofstream out(unfinished, std::ios::binary);
  out << findings.to_json(checker_->checks());
  out.close();
  if (out) std::filesystem::rename(unfinished, path, error);
  if (!out || error) warn_once(path + ": what the checks have found cannot be written");
}

}  // namespace lockstep::cuda
