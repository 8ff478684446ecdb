// What is not a kernel's: copies, managed memory, links, remarks.
#include <fmt/format.h>

#include <algorithm>

#include "plot/canvas.hpp"
#include "plot/ticks.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"
#include "util/size.hpp"
#include "uvm/counter_table.hpp"

namespace lockstep::report {
namespace {

constexpr std::size_t kMaxCopies = 20;

std::string copies(const Run& run) {
  if (run.copies.empty()) return "";
  std::vector<const Values*> order;
  for (const Values& copy : run.copies) order.push_back(&copy);
  std::stable_sort(order.begin(), order.end(), [](const Values* a, const Values* b) {
    return a->number("cycles") > b->number("cycles");
  });
  std::vector<std::vector<Cell>> rows;
  for (std::size_t i = 0; i < std::min(kMaxCopies, order.size()); ++i) {
    const Values& copy = *order[i];
    const double ns = copy.number("time_ns"), bytes = copy.number("bytes");
    rows.push_back({text_cell(copy.text("kind")), short_cell(bytes, "B"),
                    number_cell(copy.number("start_cycle")), number_cell(ns / 1000, 2),
                    number_cell(ns > 0 ? bytes / ns : 0, 2)});
  }
  std::string html = heading(2, "Copies and fills") + table({{"kind", "", false},
                                                             {"bytes", ""},
                                                             {"start [cycle]", ""},
                                                             {"time [us]", ""},
                                                             {"GB/s", "bytes by time"}},
                                                            rows);
  if (order.size() > kMaxCopies)
    html += paragraph(fmt::format("The {} longest of {}.", kMaxCopies, order.size()), "soft");
  return html;
}

/// Of 64 bits where there are more.
std::string size_of(double bytes) {
  constexpr double kTwoTo64 = 18446744073709551616.0;
  return bytes < kTwoTo64 ? size_text(static_cast<std::uint64_t>(bytes)) : size_text(~std::uint64_t{0});
}

std::string managed(const Run& run) {
  std::string html;
  for (const Values& device : run.managed) {
    std::vector<std::vector<Cell>> rows;
    for (const uvm::CounterRow& row : uvm::counter_rows())
      if (const double value = device.number_if_any(row.name); value > 0)
        rows.push_back({text_cell(row.name), number_cell(value), text_cell(row.unit), text_cell(row.help)});
    if (device.has("device")) html += heading(3, fmt::format("Device {:.0f}", device.number("device")));
    html += paragraph(fmt::format(
        "{} far faults; {} came to the device in {} transfers, {} went back; at most {} of {} were "
        "resident.",
        plot::number(device.number("faults")), size_of(device.number("bytes_to_device")),
        plot::number(device.number("transfers")), size_of(device.number("bytes_to_host")),
        size_of(device.number("peak_resident_pages") * 4096), size_of(device.number("device_bytes"))));
    html += folded(
        "All counters",
        table({{"counter", "", false}, {"value", ""}, {"unit", "", false}, {"meaning", "", false}}, rows),
        false);
  }
  return html.empty() ? "" : heading(2, "Managed memory") + html;
}

std::string links(const Run& run) {
  if (run.links.empty()) return "";
  const double seconds = run.whole.number("total_cycles") / (run.whole.number("core_khz") * 1000);
  std::vector<std::vector<Cell>> rows;
  for (const Values& link : run.links) {
    const double bytes = link.number("bytes"), peak = link.number("bytes_per_second") * seconds;
    rows.push_back({text_cell(link.text("from")), text_cell(link.text("to")),
                    text_cell(fmt::format("{:.0f} {}", link.number("count"), link.text("kind"))),
                    short_cell(link.number("messages")), short_cell(bytes, "B"),
                    short_cell(link.number("data_bytes"), "B"), share_cell(peak > 0 ? bytes / peak : 0)});
  }
  return heading(2, "Links between devices") + table({{"from", "", false},
                                                      {"to", "", false},
                                                      {"links", "", false},
                                                      {"messages", ""},
                                                      {"bytes", "headers included"},
                                                      {"data", "of these"},
                                                      {"busy", "of the link's bandwidth over the whole run"}},
                                                     rows);
}

std::string remarks(const Run& run) {
  if (run.remarks.empty()) return "";
  std::string html = heading(2, "Remarks") + "<ul>\n";
  for (const std::string& remark : run.remarks) html += "<li>" + plot::escaped(remark) + "</li>\n";
  return html + "</ul>\n";
}

}  // namespace

std::string system_section(const Run& run) { return copies(run) + managed(run) + links(run) + remarks(run); }

}  // namespace lockstep::report
