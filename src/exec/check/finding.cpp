#include "exec/check/finding.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "util/error.hpp"

namespace lockstep::exec {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<FindingKind, const char*> kKinds[] = {{FindingKind::kOutOfBounds, "out-of-bounds"},
                                                          {FindingKind::kUseAfterFree, "use-after-free"},
                                                          {FindingKind::kMisaligned, "misaligned"},
                                                          {FindingKind::kUninitialised, "uninitialised"},
                                                          {FindingKind::kRace, "race"},
                                                          {FindingKind::kLeak, "leak"}};

const char* name(FindingKind kind) {
  for (const auto& [value, text] : kKinds)
    if (value == kind) return text;
  return "";
}

std::string demangled(const std::string& kernel) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(kernel.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : kernel;
}

Json to_json(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }
Dim3 dim3_of(const Json& json) { return {json.at(0), json.at(1), json.at(2)}; }

Json to_json(const FindingSite& site) {
  return {{"module", site.module},           {"line", site.line},        {"source", site.source},
          {"instruction", site.instruction}, {"cta", to_json(site.cta)}, {"thread", to_json(site.thread)}};
}

FindingSite site_of(const Json& json) {
  return {json.at("module"),      json.at("line"),         json.at("source"),
          json.at("instruction"), dim3_of(json.at("cta")), dim3_of(json.at("thread"))};
}

Json to_json(const Finding& f) {
  Json json = {{"kind", name(f.kind)}, {"severity", f.warning ? "warning" : "error"},
               {"access", f.access},   {"space", f.space},
               {"bytes", f.bytes},     {"address", f.address},
               {"kernel", f.kernel},   {"count", f.count},
               {"detail", f.detail},   {"site", to_json(f.site)}};
  if (f.earlier) json["earlier"] = to_json(*f.earlier);
  return json;
}

Finding finding_of(const Json& json) {
  Finding f;
  const std::string kind = json.at("kind");
  for (const auto& [value, text] : kKinds)
    if (kind == text) f.kind = value;
  f.warning = json.at("severity") == "warning";
  f.access = json.at("access");
  f.space = json.at("space");
  f.bytes = json.at("bytes");
  f.address = json.at("address");
  f.kernel = json.at("kernel");
  f.count = json.at("count");
  f.detail = json.at("detail");
  f.site = site_of(json.at("site"));
  if (json.contains("earlier")) f.earlier = site_of(json.at("earlier"));
  return f;
}

std::string text_of(const FindingSite& site) {
  const std::string ptx = fmt::format("{}:{}", site.module, site.line);
  return fmt::format("{} [{}] thread ({},{},{}) of CTA ({},{},{})",
                     site.source.empty() ? ptx : fmt::format("{} ({})", site.source, ptx), site.instruction,
                     site.thread.x, site.thread.y, site.thread.z, site.cta.x, site.cta.y, site.cta.z);
}

std::string title(const Finding& f) {
  const std::string where = fmt::format("of {} bytes, {} memory at {:#x}", f.bytes, f.space, f.address);
  switch (f.kind) {
    case FindingKind::kOutOfBounds:
      return fmt::format("{} out of bounds {}", f.access, where);
    case FindingKind::kUseAfterFree:
      return fmt::format("{} after free {}", f.access, where);
    case FindingKind::kMisaligned:
      return fmt::format("misaligned {} {}", f.access, where);
    case FindingKind::kUninitialised:
      return fmt::format("{} of uninitialised memory {}", f.access, where);
    case FindingKind::kRace:
      return fmt::format("race, {} {}", f.access, where);
    case FindingKind::kLeak:
      break;
  }
  return fmt::format("leak of {} bytes, {} memory at {:#x}", f.bytes, f.space, f.address);
}

std::string text_of(const Finding& f) {
  std::string text = fmt::format("lockstep: {}: {}\n", f.warning ? "check warning" : "check", title(f));
  if (f.kind == FindingKind::kLeak) return text;
  text += fmt::format("    in kernel {}\n    {} {}\n", demangled(f.kernel), f.earlier ? "later:  " : "at",
                      text_of(f.site));
  if (f.earlier) text += fmt::format("    earlier: {}\n", text_of(*f.earlier));
  if (!f.detail.empty()) text += fmt::format("    {}\n", f.detail);
  if (f.count > 1) text += fmt::format("    {} accesses in all\n", f.count);
  return text;
}

std::string counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Findings::Index Findings::add(Finding finding) {
  const std::uint32_t partner = finding.earlier ? finding.earlier->line : 0;
  const Address address = finding.kind == FindingKind::kLeak ? finding.address : 0;
  const Key key{finding.kernel, finding.kind, finding.access, finding.site.line, partner, address};
  if (const auto found = places_.find(key); found != places_.end()) {
    all_[found->second].count += finding.count;
    return found->second;
  }
  if (per_kernel_[finding.kernel] == kPerKernel) {
    dropped_ += finding.count;
    return kDropped;
  }
  ++per_kernel_[finding.kernel];
  places_.emplace(key, all_.size());
  all_.push_back(std::move(finding));
  return all_.size() - 1;
}

std::uint64_t Findings::errors() const {
  std::uint64_t sum = dropped_;
  for (const Finding& f : all_) sum += f.warning ? 0 : f.count;
  return sum;
}

std::uint64_t Findings::warnings() const {
  std::uint64_t sum = 0;
  for (const Finding& f : all_) sum += f.warning ? f.count : 0;
  return sum;
}

std::string Findings::to_json(const Checks& checks) const {
  Json json = {{"checks", exec::to_text(checks)},
               {"errors", errors()},
               {"warnings", warnings()},
               {"not_listed", dropped_},
               {"findings", Json::array()}};
  for (const Finding& f : all_) json["findings"].push_back(exec::to_json(f));
  // Names of files need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void Findings::read(const std::string& json) {
  try {
    const Json parsed = Json::parse(json);
    for (const Json& f : parsed.at("findings")) (void)add(finding_of(f));
    dropped_ += parsed.at("not_listed").get<std::uint64_t>();
  } catch (const nlohmann::json::exception& e) {
    throw UserError(std::string("the report of the checks cannot be read: ") + e.what());
  }
}

std::string Findings::to_text() const {
  std::string text;
  std::size_t errors_listed = 0;
  for (const Finding& f : all_) {
    text += text_of(f);
    errors_listed += f.warning ? 0 : 1;
  }
  text += fmt::format("lockstep: check: {}", counted(errors(), "error"));
  if (errors_listed > 0) text += fmt::format(" at {}", counted(errors_listed, "place"));
  if (warnings() > 0) text += fmt::format(", {}", counted(warnings(), "warning"));
  if (dropped_ > 0) text += fmt::format("; {} of them at further places that are not listed", dropped_);
  return text + "\n";
}

}  // namespace lockstep::exec
