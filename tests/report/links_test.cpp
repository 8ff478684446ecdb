// The links of a page: each leads to one place that is there, also for more kernels than have a section, and
// for launches with the same title.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>

#include "report/page.hpp"
#include "report/sections.hpp"
#include "tests/report/hand_made.hpp"

namespace lockstep::report {
namespace {

/// Values of all attributes `name`, in order.
std::vector<std::string> attributes_of(const std::string& html, const std::string& name) {
  const std::string start = " " + name + "=\"";
  std::vector<std::string> all;
  for (auto at = html.find(start); at != std::string::npos; at = html.find(start, at + 1)) {
    const auto from = at + start.size();
    all.push_back(html.substr(from, html.find('"', from) - from));
  }
  return all;
}

/// What is wrong with the page's links, or "".
std::string broken_link(const std::string& html) {
  const auto ids = attributes_of(html, "id");
  const std::set<std::string> once(ids.begin(), ids.end());
  if (once.size() != ids.size()) return "an id that is there twice";
  for (const std::string& link : attributes_of(html, "href"))
    if (link.front() != '#' || !once.contains(link.substr(1))) return link + " leads nowhere";
  return "";
}

stats::RunReport random_run(std::mt19937& random, std::size_t kernels) {
  stats::RunReport report = report_of(one_gigahertz());
  report.kernels.clear();
  for (std::size_t i = 0; i < kernels; ++i)  // few names and ids: many launches have the same title
    report.kernels.push_back(kernel_of(std::string(1, static_cast<char>('a' + random() % 5)),
                                       1 + random() % 4, 1 + random() % 1000));
  return report;
}

std::string page_of_reports(const std::vector<stats::RunReport>& reports) {
  std::vector<Run> runs;
  for (const stats::RunReport& report : reports) runs.push_back(load(HandMade(report).path()));
  return page(runs);
}

/// Between a heading of level 2 with this text and the next one of this level.
std::string section_named(const std::string& html, const std::string& text) {
  const auto start = html.find(text + "</h2>");
  return start == std::string::npos ? "" : html.substr(start, html.find("<h2", start) - start);
}

}  // namespace

TEST_CASE("links of a page lead to a section that is there, of few launches and of many") {
  std::mt19937 random(7);
  for (const std::size_t kernels : {0u, 1u, 12u, 13u, 30u, 31u, 60u}) {
    INFO(kernels << " launches");
    CHECK(broken_link(page_of_reports({random_run(random, kernels)})) == "");
    CHECK(broken_link(page_of_reports({random_run(random, kernels), random_run(random, 8)})) == "");
    CHECK(broken_link(page_of_reports({random_run(random, 8), random_run(random, kernels)})) == "");
  }
}

TEST_CASE("links of a page: the longest twelve kernels have a section, and the others no link") {
  stats::RunReport report = report_of(one_gigahertz());
  report.kernels.clear();
  for (std::uint64_t i = 1; i <= 14; ++i) report.kernels.push_back(kernel_of("k", i, 10 * i));
  const std::string html = page_of_reports({report});
  for (std::uint64_t i = 1; i <= 14; ++i) {
    const std::string number = std::to_string(i);
    INFO(number);
    CHECK(times_in(html, " id=\"kernel-" + number + "\"") == (i > 2 ? 1 : 0));
    CHECK(times_in(html, ">kernel " + number + " k</a>") == (i > 2 ? 1 : 0));
    CHECK(times_in(html, ">kernel " + number + " k</td>") == (i > 2 ? 0 : 1));
  }
}

TEST_CASE("links of a page: launches with the same title stand beside each other, one after another") {
  // The same kernel on two devices, as a run of several devices has it.
  stats::RunReport a = report_of(one_gigahertz());
  a.kernels = {kernel_of("k", 1, 100), kernel_of("k", 1, 300)};
  stats::RunReport b = a;
  b.kernels[0].cycles = 500;
  b.kernels[1].cycles = 200;
  const std::string html = page_of_reports({a, b});
  CHECK(broken_link(html) == "");
  CHECK(times_in(html, "has no such kernel") == 0);
  // The longer of A is the second one, and stands beside the second one of B.
  const std::string section = section_named(html, "kernel 1 k");
  CHECK(section.find(" 300 cycles ") != std::string::npos);
  CHECK(section.find(" 200 cycles ") != std::string::npos);
  CHECK(section.find("<h3 id=\"b-kernel-2\">B</h3>") != std::string::npos);
  b.kernels.pop_back();
  const std::string without = page_of_reports({a, b});
  CHECK(broken_link(without) == "");
  CHECK(times_in(without, "B has no such kernel.") == 1);
  CHECK(times_in(without, "A has no such kernel.") == 0);
}

}  // namespace lockstep::report
