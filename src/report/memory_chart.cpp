// What went through each level of the memory.
#include <fmt/format.h>

#include "plot/canvas.hpp"
#include "plot/ticks.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"
#include "util/types.hpp"

namespace lockstep::report {
namespace {

std::string bytes(double value) { return plot::number(value) + "B"; }
std::string rate(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} % hits", 100 * part / whole) : std::string("no accesses");
}

std::string level(std::string_view title, std::initializer_list<std::string> lines) {
  std::string html = fmt::format("<div class=\"level\"><b>{}</b>", plot::escaped(title));
  for (const std::string& line : lines) html += fmt::format("<span>{}</span>", plot::escaped(line));
  return html + "</div>";
}

/// `down`: towards the DRAM; `up`: back.
std::string flow(const std::string& down, const std::string& up) {
  return fmt::format("<div class=\"pipe\"><span>{} &rarr;</span><span>&larr; {}</span></div>",
                     plot::escaped(down), plot::escaped(up));
}

std::vector<Cell> cache_row(const Values& k, const char* name, const std::string& group) {
  const auto get = [&](const char* counter) { return k.number(group + counter); };
  const double accesses = get(".accesses");
  return {text_cell(name),
          number_cell(get(".requests")),
          number_cell(accesses),
          number_cell(get(".hits")),
          number_cell(get(".misses")),
          number_cell(get(".mshr_merges")),
          share_cell(accesses > 0 ? get(".hits") / accesses : 0),
          short_cell(get(".sectors_read") * kSectorBytes, "B"),
          short_cell(get(".sectors_written") * kSectorBytes, "B")};
}

std::string level_table(const Values& k) {
  std::vector<std::vector<Cell>> rows{cache_row(k, "L1 data caches", "l1"), cache_row(k, "L2", "l2")};
  const double reads = k.number("dram.reads"), writes = k.number("dram.writes");
  const double bursts = reads + writes, burst = bursts > 0 ? k.number("dram.bytes") / bursts : 0;
  const double row_hits = k.number("dram.row_hits");
  rows.push_back({text_cell("DRAM (bursts, row hits)"), number_cell(bursts), number_cell(bursts),
                  number_cell(row_hits), number_cell(k.number("dram.row_misses")), text_cell(""),
                  share_cell(bursts > 0 ? row_hits / bursts : 0), short_cell(reads * burst, "B"),
                  short_cell(writes * burst, "B")});
  return table({{"level", "", false},
                {"requests", "lines looked up"},
                {"sectors", "32-byte sectors looked up"},
                {"hits", "sectors found"},
                {"misses", "sectors requested from the next level"},
                {"merged", "sectors already requested"},
                {"hit rate", "hits of sectors"},
                {"read", ""},
                {"written", ""}},
               rows, false);
}

}  // namespace

std::string memory_chart(const Run&, const Judged& judged) {
  const Values& k = judged.kernel->values;
  const auto sectors = [&](const char* name) { return bytes(k.number(name) * kSectorBytes); };
  const double sent = k.number("l1.store_sectors_sent") + k.number("l1.atomic_sectors_sent");
  const double reads = k.number("dram.reads"), bursts = reads + k.number("dram.writes");
  const double dram = k.number("dram.bytes"), read_bytes = bursts > 0 ? dram * reads / bursts : 0;
  std::string html = "<div class=\"flow\">";
  html += level("Warps",
                {fmt::format("global {}", plot::number(k.number("sm.global_instructions"))),
                 fmt::format("local {}", plot::number(k.number("sm.local_instructions"))),
                 fmt::format("shared {}", plot::number(k.number("sm.shared_instructions"))),
                 fmt::format("constant {}", plot::number(k.number("sm.const_instructions"))), "instructions",
                 fmt::format("{} constant passes", plot::number(k.number("sm.const_passes")))});
  html += flow(sectors("l1.sectors_written"), sectors("l1.sectors_read"));
  html +=
      level("L1 / shared", {rate(k.number("l1.hits"), k.number("l1.accesses")),
                            fmt::format("{} sectors", plot::number(k.number("l1.accesses"))),
                            fmt::format("{} shared passes", plot::number(k.number("sm.shared_wavefronts"))),
                            fmt::format("busy {:.0f} %", 100 * judged.usage.l1)});
  html += flow(bytes(sent * kSectorBytes), sectors("l1.load_sectors_sent"));
  html += level("L2", {rate(k.number("l2.hits"), k.number("l2.accesses")),
                       fmt::format("{} sectors", plot::number(k.number("l2.accesses"))),
                       fmt::format("{} atomic", plot::number(k.number("l2.atomics"))),
                       fmt::format("busy {:.0f} %", 100 * judged.usage.l2)});
  html += flow(bytes(dram - read_bytes), bytes(read_bytes));
  html += level("DRAM",
                {fmt::format("{} bursts", plot::number(bursts)),
                 fmt::format("{:.0f} % row hits", bursts > 0 ? 100 * k.number("dram.row_hits") / bursts : 0),
                 fmt::format("busy {:.0f} %", 100 * judged.usage.dram)});
  return html + "</div>\n" + level_table(k);
}

}  // namespace lockstep::report
