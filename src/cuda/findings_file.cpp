#include "cuda/findings_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace lockstep::cuda {

FindingsFile::FindingsFile(const Settings& settings, exec::DeviceMemory& memory, Warnings& warnings)
    : folder_(settings.findings), warnings_(warnings) {
  if (settings.checks.any()) checker_ = std::make_unique<exec::Checker>(settings.checks, memory);
}

void FindingsFile::save() {
  if (!checker_) return;
  const exec::Findings& findings = checker_->findings();
  const std::uint64_t found = findings.errors() + findings.warnings();
  if (found == saved_) return;
  saved_ = found;
  const std::string path = fmt::format("{}/check.{}.json", folder_, ::getpid());
  const std::string unfinished = path + ".part";
  std::error_code error;
  std::ofstream out(unfinished, std::ios::binary);
  out << findings.to_json(checker_->checks());
  out.close();
  if (out) std::filesystem::rename(unfinished, path, error);
  if (!out || error) warnings_.once(path + ": what the checks have found cannot be written");
}

void FindingsFile::find_leaks(const std::function<bool(const exec::Allocation&)>& owned) {
  if (!checker_) return;
  checker_->find_leaks(owned);
  save();
}

}  // namespace lockstep::cuda
