#include "gpu/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "sim/clock.hpp"
#include "stats/names.hpp"
#include "stats/text.hpp"

namespace lockstep::gpu {
namespace {

using Kind = uvm::Event::Kind;

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
Style style_of(Kind kind) {
  switch (kind) {
    case Kind::kFault:
      return {"far fault", kFaults, true};
    case Kind::kPrefetch:
      return {"prefetch", kToDevice, false};
    case Kind::kWriteBack:
      return {"write-back", kToHost, false};
    case Kind::kDrop:
      return {"clean drop", kToHost, true};
    case Kind::kFaultHandling:
      return {"fault handling", kToDevice, false};
    case Kind::kSynchronise:
      return {"synchronise", kHost, true};
    case Kind::kBatch:
      return {"batch", kDriver, false};
    default:
      return {"migration", kToDevice, false};
  }
}

class Writer {
 public:
  explicit Writer(std::uint64_t khz) : khz_(khz) {}

  /// What follows happens on this device, whose clock is `khz`. Devices are processes of the format.
  void device(std::uint16_t number, std::uint64_t khz) {
    pid_ = number + 1u;
    khz_ = khz;
  }
  void name_device(std::string_view name) {
    open();
    put("\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"args\":{{\"name\":{}}}}}", pid_,
        stats::json_string(name));
  }

  void row(std::uint64_t id, std::string_view name) {
    open();
    put("\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}", pid_, id,
        stats::json_string(name));
  }
  void span(std::uint64_t row, std::string_view name, Cycle start, Cycle cycles, std::string_view args) {
    open();
    put("\"name\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}",
        stats::json_string(name), pid_, row, microseconds(start), microseconds(cycles), args);
  }
  void instant(std::uint64_t row, std::string_view name, Cycle at, std::string_view args) {
    open();
    put("\"name\":{},\"ph\":\"i\",\"s\":\"t\",\"pid\":{},\"tid\":{},\"ts\":{},\"args\":{{{}}}}}",
        stats::json_string(name), pid_, row, microseconds(at), args);
  }
  std::string take() { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + text_ + "\n]}\n"; }

 private:
  void open() { text_ += text_.empty() ? "\n{" : ",\n{"; }
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  [[nodiscard]] std::string microseconds(Cycle cycles) const {
    const auto ps = static_cast<std::uint64_t>(static_cast<sim::Wide>(cycles) * 1000000000 / khz_);
    return fmt::format("{}.{:06}", ps / 1000000, ps % 1000000);
  }

  std::uint64_t khz_;
  unsigned pid_ = 1;
  std::string text_;
};

/// Of one device.
void put_kernels(Writer& out, const stats::RunReport& report, std::uint16_t device) {
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

/// Of one device.
void put_copies(Writer& out, const stats::RunReport& report, std::uint16_t device) {
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

/// Of one device.
void put_managed(Writer& out, const std::vector<TimelineEvent>& events, std::uint16_t device) {
  out.row(kFaults, "far faults");
  out.row(kDriver, "driver");
  out.row(kToDevice, "link to the device");
  out.row(kToHost, "link to the host");
  out.row(kHost, "cudaDeviceSynchronize");
  for (const TimelineEvent& event : events) {
    if (event.device != device) continue;
    const Style style = style_of(event.kind);
    const std::string args = event.kind == Kind::kBatch ? fmt::format("\"faults\":{}", event.bytes)
                                                        : fmt::format("\"address\":\"0x{:x}\",\"bytes\":{}",
                                                                      event.address, event.bytes);
    if (style.instant) {
      out.instant(style.row, style.name, event.start, args);
    } else {
      out.span(style.row, style.name, event.start, event.end - event.start, args);
    }
  }
}

}  // namespace

std::string timeline_json(const stats::RunReport& report, const std::vector<TimelineEvent>& events) {
  Writer out(std::max<std::uint64_t>(1, report.core_khz));
  const std::size_t devices = report.system ? report.system->devices.size() : 1;
  for (std::uint16_t d = 0; d < devices; ++d) {
    out.device(d, std::max<std::uint64_t>(1, stats::khz_of(report, d)));
    if (report.system) out.name_device(fmt::format("device {}: {}", d, report.system->devices[d].gpu));
    put_copies(out, report, d);
    put_kernels(out, report, d);
    if (report.has_managed()) put_managed(out, events, d);
  }
  return out.take();
}

}  // namespace lockstep::gpu
