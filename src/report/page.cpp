#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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
  const auto sections = longest(kernels);
  std::string html =
      paragraph(run.identity, "soft") + summary_section(run, kernels, sections) + time_section(run);
  for (const Judged* kernel : sections)
    html += heading(2, kernel->kernel->title, anchor_of(*kernel->kernel)) + kernel_section(run, *kernel);
  return html + system_section(run);
}

std::string side_by_side(const std::string& a, const std::string& b) {
  return "<div class=\"two\"><div>" + a + "</div><div>" + b + "</div></div>\n";
}

/// The longest kernels of A, each beside B's, and then those of B that are not among them.
std::vector<Pair> paired_sections(const std::vector<Judged>& of_a, const std::vector<Judged>& of_b) {
  std::map<const Judged*, const Judged*> other;  // nothing where there is none
  for (const Pair& p : pairs_of(of_a, of_b)) {
    other[p.a] = p.b;
    other[p.b] = p.a;
  }
  std::vector<Pair> sections;
  std::set<const Judged*> shown;
  for (const Judged* k : longest(of_a)) {
    sections.push_back({k, other[k]});
    shown.insert(other[k]);
  }
  for (const Judged* k : longest(of_b))
    if (!shown.contains(k)) sections.push_back({other[k], k});
  return sections;
}

std::string two_runs(const Run& a, const Run& b) {
  const auto of_a = judge(a), of_b = judge(b);
  const auto head = [](const char* letter, const Run& run) {
    return heading(2, fmt::format("{}: {}", letter, run.folder)) + paragraph(run.identity, "soft");
  };
  const auto sections = paired_sections(of_a, of_b);
  std::vector<const Judged*> shown_of_a, shown_of_b;
  for (const Pair& p : sections) {
    if (p.a) shown_of_a.push_back(p.a);
    if (p.b) shown_of_b.push_back(p.b);
  }
  std::string html = side_by_side(head("A", a), head("B", b));
  html += difference_section(a, of_a, b, of_b);
  html += side_by_side(summary_section(a, of_a, shown_of_a), summary_section(b, of_b, shown_of_b, kSecond)) +
          side_by_side(time_section(a), time_section(b));
  for (const Pair& p : sections)
    html += heading(2, (p.a ? p.a : p.b)->kernel->title, p.a ? anchor_of(*p.a->kernel) : "") +
            side_by_side(p.a ? heading(3, "A") + kernel_section(a, *p.a) : paragraph("A has no such kernel."),
                         p.b ? heading(3, "B", anchor_of(*p.b->kernel, kSecond)) + kernel_section(b, *p.b)
                             : paragraph("B has no such kernel."));
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
