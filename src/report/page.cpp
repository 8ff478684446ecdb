#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/html.hpp"
#include "report/sections.hpp"
#include "stats/text.hpp"

namespace lockstep::report {
namespace {

using stats::json_string;

std::string title_of(const std::vector<Run>& runs) {
  std::string title = "lockstep report";
  for (const Run& run : runs) title += (title == "lockstep report" ? ": " : " and ") + run.folder;
  return title;
}

constexpr std::string_view kSecond = "b-";  // of the anchors of the second run's kernels

std::string one_run(const Run& run) {
  const auto kernels = judge(run);
  std::string html = paragraph(run.identity, "soft") + summary_section(run, kernels) + time_section(run);
  for (const Judged* kernel : longest(kernels))
    html += heading(2, kernel->kernel->title, anchor_of(*kernel->kernel)) + kernel_section(run, *kernel);
  return html + system_section(run);
}

std::string side_by_side(const std::string& a, const std::string& b) {
  return "<div class=\"two\"><div>" + a + "</div><div>" + b + "</div></div>\n";
}

std::string two_runs(const Run& a, const Run& b) {
  const auto of_a = judge(a), of_b = judge(b);
  const auto head = [](const char* letter, const Run& run) {
    return heading(2, fmt::format("{}: {}", letter, run.folder)) + paragraph(run.identity, "soft");
  };
  std::string html = side_by_side(head("A", a), head("B", b));
  html += difference_section(a, of_a, b, of_b);
  html += side_by_side(summary_section(a, of_a), summary_section(b, of_b, kSecond)) +
          side_by_side(time_section(a), time_section(b));
  std::map<std::string, const Judged*> in_b;
  for (const Judged& k : of_b) in_b.emplace(k.kernel->title, &k);
  const auto section_of_b = [&](const Judged& k) {
    return heading(3, "B", anchor_of(*k.kernel, kSecond)) + kernel_section(b, k);
  };
  for (const Judged* k : longest(of_a)) {
    const auto other = in_b.find(k->kernel->title);
    const bool both = other != in_b.end();
    html += heading(2, k->kernel->title, anchor_of(*k->kernel)) +
            side_by_side(heading(3, "A") + kernel_section(a, *k),
                         both ? section_of_b(*other->second) : paragraph("B has no such kernel."));
    if (both) in_b.erase(other);
  }
  for (const Judged* k : longest(of_b)) {
    const auto rest = in_b.find(k->kernel->title);
    if (rest != in_b.end() && rest->second == k)
      html +=
          heading(2, k->kernel->title) + side_by_side(paragraph("A has no such kernel."), section_of_b(*k));
  }
  return html + side_by_side(system_section(a), system_section(b));
}

std::string finding_json(const Finding& f) {
  return fmt::format("\"bound\":{},\"title\":{},\"why\":{}", json_string(f.key), json_string(f.title),
                     json_string(f.why));
}

std::string kernel_json(const Judged& k) {
  std::string also;
  for (const Finding& f : k.diagnosis.also)
    also += fmt::format("{}{}", also.empty() ? "" : ",", json_string(f.key));
  return fmt::format("{{\"id\":{:.0f},\"name\":{},{},\"also\":[{}]}}", k.kernel->values.number_if_any("id"),
                     json_string(k.kernel->name), finding_json(k.diagnosis.bound), also);
}

}  // namespace

std::string page(const std::vector<Run>& runs) {
  std::string body = heading(1, "Where the time goes");
  body += runs.size() == 1 ? one_run(runs[0]) : two_runs(runs[0], runs[1]);
  return document(title_of(runs), body);
}

std::string bottlenecks_json(const std::vector<Run>& runs) {
  std::string text = "{\"runs\":[";
  const char* next_run = "\n";
  for (const Run& run : runs) {
    text += fmt::format("{}  {{\"folder\":{},{},\"kernels\":[", next_run, json_string(run.folder),
                        finding_json(diagnose_run(run)));
    next_run = ",\n";
    const char* next_kernel = "\n";
    for (const Judged& k : judge(run)) {
      text += next_kernel + ("    " + kernel_json(k));
      next_kernel = ",\n";
    }
    text += "]}";
  }
  return text + "\n]}\n";
}

}  // namespace lockstep::report
