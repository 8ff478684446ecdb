// The text of a timeline: events as Perfetto and chrome://tracing read them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "sim/clock.hpp"
#include "stats/text.hpp"
#include "util/types.hpp"

namespace lockstep::gpu {

/// Events of the Trace Event Format, one a line, in the order of the calls.
class TimelineWriter {
 public:
  explicit TimelineWriter(std::uint64_t khz) : khz_(khz) {}

  /// What follows happens on this device, whose clock is `khz`. Devices are processes of the format.
  void device(std::uint16_t number, std::uint64_t khz) {
    pid_ = number + 1u;
    khz_ = khz;
  }
  /// Or on another node, whose number follows those of the devices; its times are in ps.
  void node(std::uint32_t number) { pid_ = number + 1; }
  void name_node(std::string_view name) {
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
    put_span(row, name, microseconds(start), microseconds(cycles), args);
  }
  /// `from` and `to` in ps.
  void span_ps(std::uint64_t row, std::string_view name, std::uint64_t from, std::uint64_t to,
               std::string_view args) {
    put_span(row, name, of_ps(from), of_ps(to - from), args);
  }
  void instant(std::uint64_t row, std::string_view name, Cycle at, std::string_view args) {
    open();
    put("\"name\":{},\"ph\":\"i\",\"s\":\"t\",\"pid\":{},\"tid\":{},\"ts\":{},\"args\":{{{}}}}}",
        stats::json_string(name), pid_, row, microseconds(at), args);
  }
  std::string take() { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + text_ + "\n]}\n"; }

 private:
  void put_span(std::uint64_t row, std::string_view name, std::string_view start, std::string_view duration,
                std::string_view args) {
    open();
    put("\"name\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}",
        stats::json_string(name), pid_, row, start, duration, args);
  }
  void open() { text_ += text_.empty() ? "\n{" : ",\n{"; }
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  [[nodiscard]] std::string microseconds(Cycle cycles) const {
    return of_ps(static_cast<std::uint64_t>(static_cast<sim::Wide>(cycles) * 1000000000 / khz_));
  }

  [[nodiscard]] static std::string of_ps(std::uint64_t ps) {
    return fmt::format("{}.{:06}", ps / 1000000, ps % 1000000);
  }

  std::uint64_t khz_;
  unsigned pid_ = 1;
  std::string text_;
};

}  // namespace lockstep::gpu
