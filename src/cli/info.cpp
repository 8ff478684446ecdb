// `lockstep info`: what is in a trace.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/host.hpp"
#include "cli/info_devices.hpp"
#include "cli/info_json.hpp"
#include "cli/info_scan.hpp"
#include "cli/options.hpp"
#include "cli/trace_argument.hpp"
#include "stats/names.hpp"
#include "stats/text.hpp"
#include "trace/kernel_trace.hpp"
#include "util/console.hpp"
#include "util/size.hpp"

namespace lockstep::cli {
namespace {

std::string thousands(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string dims(Dim3 d) {
  if (d.z > 1) return fmt::format("{}x{}x{}", d.x, d.y, d.z);
  return d.y > 1 ? fmt::format("{}x{}", d.x, d.y) : std::to_string(d.x);
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// A table with the first column flush left, the others flush right; the last one free text if so wished.
/// Cells may be names of a trace, which are made printable.
class Table {
 public:
  explicit Table(std::vector<std::string> head, bool last_left) : last_left_(last_left) {
    rows_.push_back(std::move(head));
  }
  void row(std::vector<std::string> cells) {
    for (std::string& cell : cells) cell = stats::printable(cell);
    rows_.push_back(std::move(cells));
  }
  void print() const {
    std::vector<std::size_t> width(rows_.front().size());
    for (const auto& r : rows_)
      for (std::size_t i = 0; i < r.size(); ++i) width[i] = std::max(width[i], r[i].size());
    for (const auto& r : rows_) {
      print_out("  {:<{}}", r[0], width[0]);
      for (std::size_t i = 1; i < r.size(); ++i) {
        if (last_left_ && i + 1 == r.size()) {
          print_out("{}{}", r[i].empty() ? "" : "  ", r[i]);
        } else {
          print_out("  {:>{}}", r[i], width[i]);
        }
      }
      print_out("\n");
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
  bool last_left_;
};

void print_kernels(const std::vector<KernelInfo>& kernels) {
  print_out("\nKernels\n");
  Table table({"id", "stream", "grid", "block", "warps/CTA", "regs/thread", "shared/CTA", "code", "warp inst",
               "thread inst", "lanes", "name"},
              true);
  constexpr std::size_t kNameWidth = 100;
  std::vector<std::string> names;
  for (const KernelInfo& k : kernels) names.push_back(k.header.name);
  const auto labels = stats::labels_by_name(names, kNameWidth);
  for (const KernelInfo& k : kernels) {
    const trace::KernelHeader& h = k.header;
    const double lanes =
        k.total.warp == 0 ? 0.0 : static_cast<double>(k.total.thread) / static_cast<double>(k.total.warp);
    table.row({std::to_string(h.id), std::to_string(h.stream), dims(h.grid), dims(h.block),
               std::to_string(h.warps_per_cta()), std::to_string(h.registers), std::to_string(h.shared_bytes),
               std::to_string(k.static_instructions), thousands(k.total.warp), thousands(k.total.thread),
               fmt::format("{:.1f}", lanes), labels.at(h.name)});
  }
  table.print();
  print_out("  code: distinct instructions; lanes: mean active lanes of a warp instruction, of {}.\n",
            kWarpSize);
}

void print_devices(const std::vector<DeviceInfo>& devices) {
  if (devices.size() < 2) return;
  print_out("\nDevices\n");
  Table table({"device", "kernels", "copies in", "copies to host", "copies to devices", "multicast"}, true);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const DeviceInfo& device = devices[d];
    std::string peers;
    for (std::size_t to = 0; to < devices.size(); ++to)
      if (device.peer_bytes_to[to] > 0)
        peers +=
            fmt::format("{}{} to {}", peers.empty() ? "" : ", ", size_text(device.peer_bytes_to[to]), to);
    table.row({std::to_string(d), std::to_string(device.kernels), size_text(device.copies.to_device_bytes),
               size_text(device.copies.to_host_bytes), peers.empty() ? "none" : peers,
               device.multicast_bytes == 0 ? "none" : size_text(device.multicast_bytes)});
  }
  table.print();
}

void print_network(const std::vector<NetworkInfo>& devices) {
  if (devices.empty()) return;
  print_out("\nNetwork\n");
  std::vector<std::string> head{"device", "queues"};
  for (const char* name : NetworkInfo::kNames) head.emplace_back(name);
  head.emplace_back("with a signal");
  Table table(head, false);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    std::vector<std::string> row{std::to_string(d), std::to_string(devices[d].queues)};
    for (std::size_t kind = 0; kind < NetworkInfo::kNames.size(); ++kind)
      row.push_back(devices[d].bytes[kind] == 0 ? std::to_string(devices[d].operations[kind])
                                                : fmt::format("{} ({})", devices[d].operations[kind],
                                                              size_text(devices[d].bytes[kind])));
    row.push_back(std::to_string(devices[d].signals));
    table.row(row);
  }
  table.print();
}

void print_tasks(const std::vector<NetworkInfo>& devices) {
  const auto has_tasks = [](const NetworkInfo& d) {
    return std::ranges::any_of(d.tasks, [](std::uint64_t count) { return count > 0; });
  };
  if (std::ranges::none_of(devices, has_tasks)) return;
  print_out("\nProcesses of hosts\n");
  std::vector<std::string> head{"device"};
  for (const char* name : NetworkInfo::kTaskNames) head.emplace_back(name);
  head.emplace_back("sent");
  Table table(head, false);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    std::vector<std::string> row{std::to_string(d)};
    for (const std::uint64_t count : devices[d].tasks) row.push_back(std::to_string(count));
    row.push_back(size_text(devices[d].sent_bytes));
    table.row(row);
  }
  table.print();
}

/// The most frequent base opcodes of a class.
std::string opcodes_of(const KernelInfo& all, std::size_t op_class) {
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for (const auto& [name, counts] : all.opcodes_by_class[op_class]) found.emplace_back(counts, name);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::string text;
  constexpr std::size_t kShown = 6;
  for (std::size_t i = 0; i < std::min(kShown, found.size()); ++i)
    text += fmt::format("{}{}", i ? " " : "", found[i].second);
  if (found.size() > kShown) text += " ...";
  return text;
}

void print_mix(const KernelInfo& all) {
  print_out("\nInstruction mix\n");
  Table table({"class", "warp inst", "share", "thread inst", "opcodes"}, true);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kClasses; ++i)
    if (all.by_class[i].warp > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all.by_class[a].warp > all.by_class[b].warp; });
  for (const std::size_t i : order) {
    const Counts& c = all.by_class[i];
    table.row({std::string(class_name(static_cast<trace::OpClass>(i))), thousands(c.warp),
               fmt::format("{:.1f} %", percent(c.warp, all.total.warp)), thousands(c.thread),
               opcodes_of(all, i)});
  }
  table.row({"total", thousands(all.total.warp), "100.0 %", thousands(all.total.thread), ""});
  table.print();
  if (all.tensor_macs > 0)
    print_out("  {} multiply-accumulates on the tensor cores\n", thousands(all.tensor_macs));
}

void print_memory(const KernelInfo& all) {
  print_out("\nMemory\n");
  Table table({"space", "loads", "stores", "atomics", "bytes moved", "lines of 128 B", "touched"}, false);
  bool any = false;
  for (std::size_t i = 0; i < kInfoSpaces; ++i) {
    const SpaceUse& use = all.spaces[i];
    if (use.loads.warp + use.stores.warp + use.atomics.warp == 0) continue;
    any = true;
    table.row({std::string(space_name(static_cast<InfoSpace>(i))), thousands(use.loads.warp),
               thousands(use.stores.warp), thousands(use.atomics.warp), size_text(use.bytes_moved),
               thousands(use.lines), size_text(use.sectors * kSectorBytes)});
  }
  if (!any) {
    print_out("  no loads, stores or atomics with addresses\n");
    return;
  }
  table.print();
  print_out(
      "  loads, stores, atomics: warp instructions with active lanes. touched: distinct 32-byte sectors.\n"
      "  Shared addresses are those within one CTA, local ones those within one thread.\n");
}

/// Where the trace says them: those that execute most.
void print_lines(const KernelInfo& all) {
  if (all.by_line.empty()) return;
  constexpr std::size_t kShown = 12;
  using Line = std::pair<std::pair<std::string, std::uint32_t>, Counts>;
  std::vector<Line> lines(all.by_line.begin(), all.by_line.end());
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.second.warp > b.second.warp; });
  print_out("\nLines of the source\n");
  Table table({"line", "warp inst", "share", "thread inst"}, false);
  for (std::size_t i = 0; i < std::min(kShown, lines.size()); ++i) {
    const auto& [line, counts] = lines[i];
    const std::string_view file = std::string_view(line.first).substr(line.first.rfind('/') + 1);
    table.row({fmt::format("{}{}{}", file, file.empty() ? "line " : ":", line.second), thousands(counts.warp),
               fmt::format("{:.1f} %", percent(counts.warp, all.total.warp)), thousands(counts.thread)});
  }
  table.print();
  if (lines.size() > kShown)
    print_out("  and {} more lines; --json has all.\n", thousands(lines.size() - kShown));
}

void print_doubts(const KernelInfo& all) {
  if (!all.unknown.empty()) {
    print_out("\nOpcodes not modelled (taken as the class that their name suggests)\n");
    for (const auto& [name, count] : all.unknown)
      print_out("  {:<16} {}\n", stats::printable(name), thousands(count));
  }
  if (!all.remarks.empty()) {
    print_out("\nRemarks\n");
    for (const std::string& remark : all.remarks) print_out("  {}\n", stats::printable(remark));
  }
}

void print_text(const trace::TraceSet& trace, const std::vector<KernelInfo>& kernels, const KernelInfo& all) {
  const std::vector<DeviceInfo> devices = devices_info(trace.commands());
  const CopyTotals copies = copies_of(devices);
  print_out("Trace {}: {} kernel{}, {} cop{} to the device ({})", stats::printable(trace.name()),
            kernels.size(), kernels.size() == 1 ? "" : "s", copies.to_device,
            copies.to_device == 1 ? "y" : "ies", size_text(copies.to_device_bytes));
  if (copies.to_host > 0) print_out(", {} to the host ({})", copies.to_host, size_text(copies.to_host_bytes));
  print_out("\n");
  if (!kernels.empty()) {
    const trace::KernelHeader& h = kernels.front().header;
    print_out("Traced on sm_{} with tracer version {}{}\n", h.binary_version, h.tracer_version,
              h.nvbit_version.empty() ? "" : fmt::format(", NVBit {}", stats::printable(h.nvbit_version)));
  }
  print_devices(devices);
  print_network(network_info(trace.commands()));
  print_tasks(network_info(trace.commands()));
  print_kernels(kernels);
  print_mix(all);
  print_memory(all);
  print_lines(all);
  print_doubts(all);
}

}  // namespace

int run_info(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "info TRACE [options]";
  syntax.summary =
      "Shows what is in a trace: kernels, instruction mix, memory footprint, what is not modelled.";
  add_trace_argument(syntax);
  syntax.options.add_options()("json", "as JSON, with all counts for each kernel");
  syntax.notes = "TRACE: a folder with kernelslist.g, a list, or one kernel file.";
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  const auto trace = open(trace_argument(*values));
  std::vector<KernelInfo> kernels;
  KernelInfo all;
  for (std::uint32_t i = 0; i < trace->kernels().size(); ++i) {
    kernels.push_back(scan_kernel(*trace, i, default_threads()));
    all.merge(kernels.back());
    kernels.back().seal();
  }
  all.seal();
  if (values->count("json")) {
    print_out("{}\n", info_json(*trace, kernels, all));
  } else {
    print_text(*trace, kernels, all);
  }
  return kDone;
}

}  // namespace lockstep::cli
