// `lockstep convert`: writes a trace in the compact format.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/host.hpp"
#include "cli/inputs.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "trace/compact_feed.hpp"
#include "util/console.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

/// On a terminal one updating line, in a log a line now and then; nothing for what is done in no time.
class ConvertPrinter {
 public:
  void update(const trace::ConvertProgress& p) {
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? std::chrono::milliseconds(500) : std::chrono::milliseconds(10000));
    const double done =
        p.total_ctas == 0 ? 1 : static_cast<double>(p.ctas) / static_cast<double>(p.total_ctas);
    print_err("{}kernel {}/{}  CTA {}/{}  {} warp instructions  {} bytes  {:.0f}%{}",
              terminal_ ? "\r\x1b[K" : "", p.kernel + 1, p.kernels, p.ctas, p.total_ctas, p.warp_instructions,
              p.bytes, 100 * done, terminal_ ? "" : "\n");
    std::fflush(stderr);
    line_open_ = terminal_;
  }
  ~ConvertPrinter() {
    if (line_open_) print_err("\r\x1b[K");
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool line_open_ = false;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(terminal_ ? 1 : 10);
};

struct Interrupted {};

}  // namespace

int run_convert(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "convert TRACE OUT [options]";
  syntax.summary = "Writes a trace as one compact file, which is smaller and read faster.";
  syntax.positionals = {"TRACE", "OUT"};
  syntax.options.add_options()("level", po::value<std::string>()->default_value("19"),
                               "effort of the compression, 1 (fast) to 22 (small)");
  syntax.notes =
      "TRACE: a folder with kernelslist.g, a list, or one kernel file. OUT: the file to write, usually "
      "NAME.lst;\n"
      "every command takes it for TRACE, with the same results.";
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  trace::ConvertOptions options;
  options.level = static_cast<int>(parse_number("--level", (*values)["level"].as<std::string>(), 1, 22));
  options.threads = default_threads();
  const auto& out = (*values)["OUT"].as<std::string>();
  const auto& path = (*values)["TRACE"].as<std::string>();
  const auto trace = trace::open_trace(path);
  refuse_overwriting("OUT", out, is_file_of_trace(out, path));
  trace::ConvertProgress done;
  catch_interrupts();
  try {
    ConvertPrinter printer;
    options.progress = [&](const trace::ConvertProgress& p) {
      if (interrupted()) throw Interrupted{};
      printer.update(p);
    };
    done = trace::write_compact(*trace, out, options);
  } catch (const Interrupted&) {
    print_err("lockstep: interrupted: {} is not written\n", out);
    return kInterrupted;
  }
  print_out("{}: {} kernels, {} warp instructions, {} bytes\n", out, done.kernels, done.warp_instructions,
            done.bytes);
  return kDone;
}

}  // namespace lockstep::cli
