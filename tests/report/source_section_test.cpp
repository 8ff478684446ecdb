// Instructions of a profile: opcodes, source lines and rows, against sums made in the test.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "report/sections.hpp"
#include "tests/report/hand_made.hpp"

namespace lockstep::report {
namespace {

using Catch::Contains;

/// The numbers by which a table's row is sorted; "" where a cell has none.
using Numbers = std::vector<std::string>;

Numbers numbers_of(const std::string& row) {
  static const std::regex kCell("<td[^>]*>"), kValue("data-v=\"([^\"]*)\"");
  Numbers numbers;
  for (std::sregex_iterator cell(row.begin(), row.end(), kCell), end; cell != end; ++cell) {
    const std::string tag = cell->str();
    std::smatch value;
    numbers.push_back(std::regex_search(tag, value, kValue) ? value[1].str() : "");
  }
  return numbers;
}

/// The rows of the table after `title`.
std::vector<std::string> rows_after(const std::string& html, const std::string& title) {
  auto at = html.find("<tbody>", html.find(title));
  const auto end = html.find("</tbody>", at);
  std::vector<std::string> rows;
  for (at = html.find("<tr>", at); at < end; at = html.find("<tr>", at + 1))
    rows.push_back(html.substr(at, html.find("</tr>", at) - at));
  return rows;
}

/// A run of one kernel with a profile; every instruction is issued as often as `issues` says.
stats::RunReport profiled(const std::vector<stats::ProfiledInstruction>& code,
                          const std::vector<std::uint64_t>& issues) {
  stats::RunReport report = report_of(one_gigahertz());
  report.codes = {{"k", code}};
  auto& rows = report.kernels[0].profile.instructions;
  rows.resize(code.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].stalls[0] = issues.at(i);
  return report;
}

struct Loaded {
  explicit Loaded(const stats::RunReport& report) : run(load(HandMade(report).path())), kernels(judge(run)) {}
  [[nodiscard]] std::string mix() const { return mix_section(run, kernels.at(0)); }
  [[nodiscard]] std::string source() const { return source_section(run, kernels.at(0)); }
  Run run;
  std::vector<Judged> kernels;
};

}  // namespace

TEST_CASE("instruction mix: the twelve opcodes issued most often, without their modifiers, and the others") {
  std::vector<stats::ProfiledInstruction> code;
  std::vector<std::uint64_t> issues;
  for (std::uint32_t i = 0; i < 14; ++i) {  // OPA to OPN, each with two modifiers: 10, 20 to 140 issues
    const std::string opcode = std::string("OP") + static_cast<char>('A' + i);
    code.push_back({32 * i, "1 R1 " + opcode + ".E 1 R2 0", "", "", 0});
    code.push_back({32 * i + 16, "1 R1 " + opcode + ".F.G 0 0", "", "", 0});
    issues.push_back(4 * (i + 1));
    issues.push_back(6 * (i + 1));
  }
  const Loaded loaded(profiled(code, issues));
  const auto rows = rows_after(loaded.mix(), "Instruction mix");
  REQUIRE(rows.size() == 13);
  for (std::uint32_t i = 0; i < 12; ++i) {
    const std::string opcode = std::string("OP") + static_cast<char>('A' + 13 - i);
    CHECK_THAT(rows[i], Contains(">" + opcode + "<"));
    CHECK(numbers_of(rows[i])[1] == std::to_string(10 * (14 - i)));
  }
  CHECK_THAT(rows[12], Contains("others") && Contains("2.9 %"));  // 10 + 20 of 1050
  CHECK(numbers_of(rows[12])[1] == "30");
  // Twelve opcodes are all that there are.
  code.resize(24);
  issues.resize(24);
  CHECK_THAT(Loaded(profiled(code, issues)).mix(), !Contains("others"));
}

TEST_CASE("instruction mix: without a profile it is the kinds of memory that the counters have") {
  stats::RunReport report = report_of(one_gigahertz());
  auto& sm = report.kernels[0].counters.sm;
  sm.warp_instructions = 200;
  sm.global_instructions = 50;
  sm.const_instructions = 1;
  const Loaded loaded(report);
  const auto rows = rows_after(loaded.mix(), "Instruction mix");
  REQUIRE(rows.size() == 2);
  CHECK_THAT(rows[0], Contains("global memory") && Contains("25.0 %"));
  CHECK_THAT(rows[1], Contains("const memory") && Contains("0.5 %"));
  CHECK(loaded.source().empty());
}

TEST_CASE("source lines: what the instructions of a line did is added up, line by line") {
  std::mt19937 random(23);
  std::vector<stats::ProfiledInstruction> code;
  std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> issues, sectors;
  for (std::uint32_t i = 0; i < 200; ++i)
    code.push_back(
        {16 * i, "0 NOP 0", "", random() % 2 ? "x/a.cu" : "b.cu", static_cast<std::uint32_t>(random() % 9)});
  stats::RunReport report = profiled(code, std::vector<std::uint64_t>(200, 0));
  for (std::size_t i = 0; i < code.size(); ++i) {
    auto& row = report.kernels[0].profile.instructions[i];
    row.stalls[0] = random() % 100;
    row.l1_sectors = random() % 100;
    if (code[i].source_line == 0) continue;  // without a line
    issues[{code[i].source_file, code[i].source_line}] += row.stalls[0];
    sectors[{code[i].source_file, code[i].source_line}] += row.l1_sectors;
  }
  const auto rows = rows_after(Loaded(report).source(), "Source lines");
  REQUIRE(rows.size() == issues.size());
  auto sector = sectors.begin();
  std::size_t i = 0;
  for (const auto& [place, count] : issues) {
    CHECK_THAT(rows[i], Contains(">" + place.first + ":" + std::to_string(place.second) + "<"));
    const Numbers numbers = numbers_of(rows[i++]);
    CHECK(numbers[0] == std::to_string(place.second));
    CHECK(numbers[1] == std::to_string(count));
    CHECK(numbers[5] == std::to_string((sector++)->second));
  }
}

TEST_CASE("instructions: lanes are a mean over issues, and stalls a share of the kernel's") {
  stats::RunReport report =
      profiled({{0, "1 R4 LDG.E 1 R8 4", "", "", 0}, {16, "0 EXIT 0", "", "", 0}}, {4, 0});
  auto& rows = report.kernels[0].profile.instructions;
  rows[0].threads = 50;
  rows[0].stalls[static_cast<unsigned>(stats::Stall::kWait)] = 30;
  rows[0].stalls[static_cast<unsigned>(stats::Stall::kBarrier)] = 45;
  rows[1].stalls[static_cast<unsigned>(stats::Stall::kDrain)] = 25;
  const std::string html = Loaded(report).source();
  CHECK_THAT(html, !Contains("Source lines") && !Contains(">PTX<") && !Contains(">source<"));
  const auto shown = rows_after(html, "Instructions");
  REQUIRE(shown.size() == 2);
  CHECK_THAT(shown[0], Contains(">0000<") && Contains(">LDG.E R4, R8<") && Contains(">12.5<") &&
                           Contains("75.0 %") && Contains("<td>barrier</td>"));
  CHECK_THAT(shown[1], Contains(">0010<") && Contains(">EXIT<") && Contains(">0.0<") && Contains("25.0 %") &&
                           Contains("<td>drain</td>"));
}

TEST_CASE(
    "instructions: PTX and places have a column where any instruction has them; the file is without "
    "folders") {
  const std::string html = Loaded(profiled({{0, "0 A 0", "mov.u32 %r1, %r2;", "", 7},
                                            {16, "0 B 0", "", "/home/a/b.cu", 12},
                                            {32, "0 C 0", "", "c.cu", 0}},
                                           {1, 1, 1}))
                               .source();
  CHECK_THAT(html, Contains(">PTX<") && Contains(">source<"));
  const auto shown = rows_after(html, "<summary>Instructions");
  REQUIRE(shown.size() == 3);
  CHECK_THAT(shown[0], Contains(">line 7<") && Contains("mov.u32 %r1, %r2;"));
  CHECK_THAT(shown[1], Contains(">b.cu:12<"));
  CHECK_THAT(shown[2], !Contains("c.cu"));
}

TEST_CASE("instructions: two thousand have a row, and how many more there are is said") {
  const auto html_of = [](std::uint32_t n) {
    std::vector<stats::ProfiledInstruction> code;
    for (std::uint32_t i = 0; i < n; ++i) code.push_back({16 * i, "0 NOP 0", "", "", 0});
    return Loaded(profiled(code, std::vector<std::uint64_t>(n, 1))).source();
  };
  CHECK_THAT(html_of(2000), !Contains("more: profile.json"));
  const std::string html = html_of(2003);
  CHECK(rows_after(html, "Instructions").size() == 2000);
  CHECK_THAT(html, Contains("and 3 more: profile.json has all"));
}

}  // namespace lockstep::report
