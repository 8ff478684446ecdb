// The kernel's instructions: which there are, and what each did.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "plot/canvas.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"
#include "stats/descriptors.hpp"

namespace lockstep::report {
namespace {

using stats::InstructionCounters;
using stats::Stall;

constexpr std::size_t kMaxOpcodes = 12;
constexpr std::size_t kMaxInstructions = 2000;  // with a row each: a page stays readable and quick

double issues(const InstructionCounters& c) { return static_cast<double>(c.stalls[0]); }

double stalled(const InstructionCounters& c) {
  return static_cast<double>(std::accumulate(c.stalls.begin() + 1, c.stalls.end(), std::uint64_t{0}));
}

Stall top_stall(const InstructionCounters& c) {
  const auto top = std::max_element(c.stalls.begin() + 1, c.stalls.end());
  return static_cast<Stall>(top - c.stalls.begin());
}

std::string opcode_of(const std::string& text) {
  const std::string readable = stats::readable_instruction(text);
  return readable.substr(0, readable.find_first_of(". "));
}

struct Instructions {
  const stats::ProfiledCode* code;
  const LaunchProfile* launch;
  double all_issues = 0, all_stalled = 0;
};

Cell reason_cell(const InstructionCounters& c) {
  return stalled(c) > 0 ? text_cell(stats::stall_name(top_stall(c))) : text_cell("");
}

Cell code_cell(std::string_view text) {
  return {"<span class=\"code\">" + plot::escaped(text) + "</span>", {}};
}

std::vector<Cell> counter_cells(const Instructions& all, const InstructionCounters& c) {
  const double n = issues(c);
  return {short_cell(n),
          number_cell(n > 0 ? static_cast<double>(c.threads) / n : 0, 1),
          share_cell(all.all_stalled > 0 ? stalled(c) / all.all_stalled : 0),
          reason_cell(c),
          short_cell(static_cast<double>(c.l1_sectors)),
          short_cell(static_cast<double>(c.l2_sectors)),
          short_cell(static_cast<double>(c.shared_wavefronts)),
          short_cell(static_cast<double>(c.constant_passes))};
}

std::vector<Column> counter_columns() {
  return {
      {"issues", "times that a warp issued it"},
      {"lanes", "active lanes of an issue"},
      {"stalls",
       "of the kernel's stall cycles, those in which a sub-core issued nothing and a warp before this "
       "instruction was "
       "next"},
      {"mostly", "the reason for most of them", false},
      {"L1 sectors", "looked up in the L1"},
      {"L2 sectors", "requested from the L2 or sent to it"},
      {"shared passes", "passes over the shared-memory banks"},
      {"constant passes", "distinct addresses of loads from constant memory, served one after the other"}};
}

std::string place_of(const stats::ProfiledInstruction& i) {
  if (i.source_line == 0) return "";
  const auto slash = i.source_file.find_last_of('/');
  const std::string file = slash == std::string::npos ? i.source_file : i.source_file.substr(slash + 1);
  return fmt::format("{}{}{}", file, file.empty() ? "line " : ":", i.source_line);
}

std::string by_instruction(const Instructions& all) {
  const auto& instructions = all.code->instructions;
  const bool ptx =
      std::any_of(instructions.begin(), instructions.end(), [](const auto& i) { return !i.ptx.empty(); });
  const bool lines =
      std::any_of(instructions.begin(), instructions.end(), [](const auto& i) { return i.source_line != 0; });
  std::vector<Column> columns{{"pc", "byte address in the machine code"}, {"machine instruction", "", false}};
  if (ptx) columns.push_back({"PTX", "the statement that it comes from", false});
  if (lines) columns.push_back({"source", "line of the program's source", false});
  const auto counted = counter_columns();
  columns.insert(columns.end(), counted.begin(), counted.end());
  std::vector<std::vector<Cell>> rows;
  for (std::size_t i = 0; i < std::min(kMaxInstructions, instructions.size()); ++i) {
    const auto& instruction = instructions[i];
    std::vector<Cell> row{{fmt::format("<code>{:04x}</code>", instruction.pc), instruction.pc},
                          code_cell(stats::readable_instruction(instruction.text))};
    if (ptx) row.push_back(code_cell(instruction.ptx));
    if (lines) row.push_back(code_cell(place_of(instruction)));
    const auto cells = counter_cells(all, all.launch->counts.instructions[i]);
    row.insert(row.end(), cells.begin(), cells.end());
    rows.push_back(std::move(row));
  }
  std::string html = table(columns, rows);
  if (instructions.size() > kMaxInstructions)
    html += paragraph(
        fmt::format("and {} more: profile.json has all", instructions.size() - kMaxInstructions), "soft");
  return html;
}

std::string by_line(const Instructions& all) {
  std::map<std::pair<std::string, std::uint32_t>, InstructionCounters> lines;
  for (std::size_t i = 0; i < all.code->instructions.size(); ++i) {
    const auto& instruction = all.code->instructions[i];
    if (instruction.source_line != 0)
      stats::add(lines[{instruction.source_file, instruction.source_line}],
                 all.launch->counts.instructions[i]);
  }
  if (lines.empty()) return "";
  std::vector<Column> columns{{"source", "line of the program's source", false}};
  const auto counted = counter_columns();
  columns.insert(columns.end(), counted.begin(), counted.end());
  std::vector<std::vector<Cell>> rows;
  for (const auto& [place, counters] : lines) {
    const double line = place.second;
    std::vector<Cell> row{
        {fmt::format("<span class=\"code\">{}:{}</span>", plot::escaped(place.first), place.second), line}};
    const auto cells = counter_cells(all, counters);
    row.insert(row.end(), cells.begin(), cells.end());
    rows.push_back(std::move(row));
  }
  return folded("Source lines", table(columns, rows), true);
}

std::optional<Instructions> instructions_of(const Run& run, const Judged& judged) {
  const LaunchProfile* launch = run.profile_of(*judged.kernel);
  if (!launch) return std::nullopt;
  Instructions all{&run.profile->codes[launch->code], launch};
  for (const InstructionCounters& c : launch->counts.instructions) {
    all.all_issues += issues(c);
    all.all_stalled += stalled(c);
  }
  return all;
}

std::string memory_mix(const Judged& judged) {
  const Values& k = judged.kernel->values;
  const double all = k.number("warp_instructions");
  std::vector<std::vector<Cell>> rows;
  for (const char* kind : {"global", "shared", "local", "const"}) {
    const double n = k.number(fmt::format("sm.{}_instructions", kind));
    if (n > 0)
      rows.push_back(
          {text_cell(fmt::format("{} memory", kind)), short_cell(n), share_cell(all > 0 ? n / all : 0)});
  }
  return table({{"instructions", "", false},
                {"issues", "warp instructions"},
                {"share", "of all warp instructions"}},
               rows) +
         paragraph("All opcodes are here when the run has --profile.", "soft");
}

}  // namespace

std::string mix_section(const Run& run, const Judged& judged) {
  const std::string title = heading(3, "Instruction mix");
  const auto all = instructions_of(run, judged);
  if (!all) return title + memory_mix(judged);
  std::map<std::string, double> by_opcode;
  for (std::size_t i = 0; i < all->launch->counts.instructions.size(); ++i)
    by_opcode[opcode_of(all->code->instructions[i].text)] += issues(all->launch->counts.instructions[i]);
  std::vector<std::pair<std::string, double>> order(by_opcode.begin(), by_opcode.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::vector<Cell>> rows;
  double shown = 0;
  for (std::size_t i = 0; i < std::min(kMaxOpcodes, order.size()); ++i) {
    shown += order[i].second;
    rows.push_back({code_cell(order[i].first), short_cell(order[i].second),
                    share_cell(order[i].second / std::max(1.0, all->all_issues))});
  }
  if (all->all_issues > shown)
    rows.push_back({text_cell("others"), short_cell(all->all_issues - shown),
                    share_cell((all->all_issues - shown) / all->all_issues)});
  return title +
         table(
             {{"opcode", "", false}, {"issues", "warp instructions"}, {"share", "of all warp instructions"}},
             rows);
}

std::string source_section(const Run& run, const Judged& judged) {
  const auto all = instructions_of(run, judged);
  if (!all) return "";
  return by_line(*all) + folded("Instructions", by_instruction(*all), true);
}

}  // namespace lockstep::report
