#include "gpu/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "gpu/network_timeline.hpp"
#include "gpu/timeline_writer.hpp"
#include "stats/names.hpp"
#include "stats/text.hpp"

namespace lockstep::gpu {
namespace {

using EventKind = uvm::Event::Kind;

/// Rows of the picture; kernels have kStreams + position of their stream among all. Spans of one row never
/// overlap.
enum Row : std::uint64_t {
  kCopiesIn = 1,
  kCopiesOut,
  kFaults,
  kDriver,
  kToDevice,
  kToHost,
  kHost,
  kWithin,
  kBetween,
  kStreams
};

struct Style {
  std::string_view name;
  Row row;
  bool instant;
};
Style style_of(EventKind kind) {
  switch (kind) {
    case EventKind::kFault:
      return {"far fault", kFaults, true};
    case EventKind::kPrefetch:
      return {"prefetch", kToDevice, false};
    case EventKind::kWriteBack:
      return {"write-back", kToHost, false};
    case EventKind::kDrop:
      return {"clean drop", kToHost, true};
    case EventKind::kFaultHandling:
      return {"fault handling", kToDevice, false};
    case EventKind::kSynchronise:
      return {"synchronise", kHost, true};
    case EventKind::kBatch:
      return {"batch", kDriver, false};
    default:
      return {"migration", kToDevice, false};
  }
}

/// The kernels of one device.
void put_kernels(TimelineWriter& out, const stats::RunReport& report, std::uint16_t device) {
  std::map<std::uint64_t, std::uint64_t> rows;
  for (const stats::KernelResult& kernel : report.kernels)
    if (kernel.device == device) rows[kernel.stream] = 0;
  std::uint64_t next = kStreams;
  for (auto& [stream, row] : rows) {
    row = next++;
    out.row(row, fmt::format("kernels, stream {}", stream));
  }
  constexpr std::size_t kNameWidth = 80;
  std::vector<std::string> names;
  for (const stats::KernelResult& kernel : report.kernels) names.push_back(kernel.name);
  const auto labels = stats::labels_by_name(names, kNameWidth);
  for (const stats::KernelResult& kernel : report.kernels) {
    if (kernel.device != device) continue;
    out.span(rows[kernel.stream], labels.at(kernel.name), kernel.start_cycle, kernel.cycles,
             fmt::format("\"id\":{},\"cycles\":{},\"name\":{}", kernel.id, kernel.cycles,
                         stats::json_string(kernel.name)));
  }
}

/// The copies of one device.
void put_copies(TimelineWriter& out, const stats::RunReport& report, std::uint16_t device) {
  const auto row_of = [](const stats::CopyResult& copy) {
    if (copy.kind == "peer_to_peer") return kBetween;
    return copy.kind == "host_to_device" ? kCopiesIn : copy.kind == "device_to_host" ? kCopiesOut : kWithin;
  };
  const auto any = [&](Row row) {
    return std::any_of(report.copies.begin(), report.copies.end(), [&](const stats::CopyResult& copy) {
      return copy.device == device && row_of(copy) == row;
    });
  };
  if (any(kCopiesIn)) out.row(kCopiesIn, "copies to the device");
  if (any(kCopiesOut)) out.row(kCopiesOut, "copies to the host");
  if (any(kWithin)) out.row(kWithin, "fills and copies within the device");
  if (any(kBetween)) out.row(kBetween, "copies to other devices");
  for (const stats::CopyResult& copy : report.copies) {
    if (copy.device != device) continue;
    out.span(row_of(copy), copy.kind, copy.start_cycle, copy.cycles,
             fmt::format("\"address\":\"0x{:x}\",\"bytes\":{}", copy.address, copy.bytes));
  }
}

/// The events of one device's managed memory.
void put_managed(TimelineWriter& out, const std::vector<TimelineEvent>& events, std::uint16_t device) {
  out.row(kFaults, "far faults");
  out.row(kDriver, "driver");
  out.row(kToDevice, "link to the device");
  out.row(kToHost, "link to the host");
  out.row(kHost, "cudaDeviceSynchronize");
  for (const TimelineEvent& event : events) {
    if (event.device != device) continue;
    const Style style = style_of(event.kind);
    const std::string args =
        event.kind == EventKind::kBatch
            ? fmt::format("\"faults\":{}", event.bytes)
            : fmt::format("\"address\":\"0x{:x}\",\"bytes\":{}", event.address, event.bytes);
    if (style.instant) {
      out.instant(style.row, style.name, event.start, args);
    } else {
      out.span(style.row, style.name, event.start, event.end - event.start, args);
    }
  }
}

}  // namespace

std::string timeline_json(const stats::RunReport& report, const std::vector<TimelineEvent>& events,
                          const NetworkTimeline& network, const LinkTimeline& links) {
  TimelineWriter out(std::max<std::uint64_t>(1, report.core_khz));
  const std::size_t devices = report.system ? report.system->devices.size() : 1;
  for (std::uint16_t d = 0; d < devices; ++d) {
    out.device(d, std::max<std::uint64_t>(1, stats::khz_of(report, d)));
    if (report.system) out.name_node(fmt::format("device {}: {}", d, report.system->devices[d].gpu));
    put_copies(out, report, d);
    put_kernels(out, report, d);
    if (report.has_managed()) put_managed(out, events, d);
  }
  put_network(out, network);
  put_links(out, links);
  return out.take();
}

}  // namespace lockstep::gpu
