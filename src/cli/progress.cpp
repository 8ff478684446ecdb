#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "stats/names.hpp"
#include "stats/text.hpp"

namespace lockstep::cli {
namespace {

using Milliseconds = std::chrono::milliseconds;
constexpr Milliseconds kLogPeriod{10000}, kTerminalPeriod{200}, kFirstLine{1000};

std::string time_left(double seconds) {
  const auto s = std::lround(std::min(seconds, 3.6e8));
  if (s < 3600) return fmt::format("{}:{:02} left", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02} left", s / 3600, s / 60 % 60, s % 60);
}

std::size_t terminal_columns(std::FILE* out) {
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
  return 80;
}

}  // namespace

double fraction_done(const gpu::Progress& progress, const std::vector<std::uint64_t>& ctas_before) {
  if (ctas_before.empty() || ctas_before.back() == 0) return 0;
  const std::uint64_t before =
      ctas_before[std::min<std::size_t>(progress.kernels_done, ctas_before.size() - 1)];
  const std::uint64_t done = std::min(before + progress.ctas_done, ctas_before.back());
  return static_cast<double>(done) / static_cast<double>(ctas_before.back());
}

std::string progress_line(const gpu::Progress& progress, double seconds, double fraction) {
  std::string line = fmt::format("kernel {}/{}", std::min(progress.kernels_done + 1, progress.kernels_total),
                                 progress.kernels_total);
  if (!progress.kernel.empty()) line += " " + stats::short_name(progress.kernel, 28);
  if (progress.ctas_total > 0) line += fmt::format("  CTA {}/{}", progress.ctas_done, progress.ctas_total);
  line += fmt::format("  cycle {}", stats::grouped(progress.cycle));
  if (seconds > 0) {
    line += fmt::format("  {} warp inst/s",
                        stats::scaled(static_cast<double>(progress.warp_instructions) / seconds));
  }
  line += fmt::format("  {:.0f}%", fraction * 100);
  if (seconds >= 1 && fraction >= 0.01) line += "  " + time_left(seconds * (1 - fraction) / fraction);
  return line;
}

std::string execution_line(const cuda::Execution& execution, double rate) {
  if (execution.launch == 0) return "the program runs, no kernel yet";
  const std::string name = stats::short_name(execution.kernel, 28);
  if (!execution.running) return fmt::format("the program runs, last kernel {} {}", execution.launch, name);
  return fmt::format("executing kernel {} {}  CTA {}/{}  {} thread inst  {} thread inst/s", execution.launch,
                     name, execution.ctas_done, execution.ctas,
                     stats::scaled(static_cast<double>(execution.thread_instructions)), stats::scaled(rate));
}

ProgressPrinter::ProgressPrinter(std::FILE* out, std::vector<std::uint64_t> ctas_before)
    : out_(out), ctas_before_(std::move(ctas_before)) {
  const char* kind = std::getenv("TERM");
  terminal_ = isatty(fileno(out)) == 1 && kind != nullptr && std::string(kind) != "dumb";
}

void ProgressPrinter::update(const gpu::Progress& progress) {
  const auto now = Clock::now();
  if (progress.kernels_total == 0 || (!terminal_ && now - last_ < kLogPeriod)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  show(progress_line(progress, seconds, fraction_done(progress, ctas_before_)));
}

void ProgressPrinter::update(const cuda::Execution& execution) {
  const auto now = Clock::now();
  if (now - start_ < kFirstLine || now - last_ < (terminal_ ? kTerminalPeriod : kLogPeriod)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - std::exchange(executed_at_, now)).count();
  const std::uint64_t before = std::exchange(executed_, execution.thread_instructions);
  show(execution_line(execution, static_cast<double>(executed_ - before) / seconds));
}

void ProgressPrinter::show(std::string line) {
  if (terminal_) {
    line.resize(std::min(line.size(), terminal_columns(out_) - 1));
    line = "\r" + line + "\033[K";
  } else {
    line += '\n';
  }
  line_open_ = terminal_;
  std::fputs(line.c_str(), out_);
  std::fflush(out_);
}

void ProgressPrinter::finish() {
  if (!line_open_) return;
  std::fputs("\r\033[K", out_);
  std::fflush(out_);
  line_open_ = false;
}

}  // namespace lockstep::cli
