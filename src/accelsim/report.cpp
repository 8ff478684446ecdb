// What a translation did, for people: the annotated configuration, the summary line, docs/accelsim.md.
#include <fmt/format.h>

#include <algorithm>

#include "accelsim/stats_text.hpp"
#include "accelsim/table.hpp"
#include "accelsim/translate.hpp"
#include "config/schema.hpp"
#include "config/value.hpp"
#include "util/markdown.hpp"

namespace lockstep::accelsim {
namespace {

using config::printable;

/// What a value comes from: the options of Accel-Sim's files, --set, or the base.
std::string origin_text(const config::Origin& origin, const Translation& translation) {
  switch (origin.kind) {
    case config::Origin::Kind::kAssignment:
      return fmt::format("{} ({})", origin.note, printable(origin.place));
    case config::Origin::Kind::kOption:
      return origin.place;
    case config::Origin::Kind::kDefault:
    case config::Origin::Kind::kFile:
      break;
  }
  return printable(translation.base);
}

std::string ignored_list(const Translation& translation) {
  std::string out = fmt::format("\n; Ignored ({}):\n", translation.ignored.size());
  for (const Ignored& entry : translation.ignored) {
    out += fmt::format("; {}{} {} ({}:{}): {}\n", entry.differs ? "DIFFERS " : "", entry.option.name,
                       printable(entry.option.value), printable(entry.option.file), entry.option.line,
                       entry.reason);
  }
  return out;
}

std::string unknown_list(const Translation& translation) {
  std::string out = fmt::format("\n; Unknown ({}):\n", translation.unknown.size());
  for (const Option& option : translation.unknown) {
    out += fmt::format("; {} {} ({}:{})\n", printable(option.name), printable(option.value),
                       printable(option.file), option.line);
  }
  return out;
}

/// "`a`, `b`" of "a, b".
std::string code_list(std::string_view list) {
  if (list.find('.') == std::string_view::npos) return std::string(list);
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t end = list.find(", ", at);
    out += fmt::format("{}`{}`", out.empty() ? "" : ", ", list.substr(at, end - at));
    if (end == std::string_view::npos) return out;
    at = end + 2;
  }
}

std::string mapped_table() {
  std::string out = "| option (default) | keys | conversion |\n|---|---|---|\n";
  for (const Rule& rule : rules()) {
    std::string inputs;
    for (const Input& input : rule.inputs) {
      inputs += fmt::format("{}`{}`", inputs.empty() ? "" : ", ", input.option);
      if (!input.fallback.empty()) inputs += fmt::format(" ({})", markdown_cell(input.fallback));
    }
    out += fmt::format("| {} | {} | {} |\n", inputs, code_list(rule.keys), markdown_cell(rule.how));
  }
  return out;
}

std::string ignored_table(std::span<const IgnoredOption> rows) {
  std::string out = "| option | modelled | reason |\n|---|---|---|\n";
  for (const IgnoredOption& row : rows)
    out += fmt::format("| `{}` | {} | {} |\n", row.option, row.modelled, markdown_cell(row.reason));
  return out;
}

constexpr std::string_view kPreface =
    R"(# Coming from Accel-Sim

Generated from the tables in `src/accelsim` by `lockstep config --accelsim-markdown`; do not edit. Common tasks are in [How do I ...?](accelsim-howto.md).

## Its configuration files

    lockstep run TRACE --accelsim-config gpgpusim.config trace.config [config_islip.icnt] [-c GPU]
    lockstep config --accelsim-config gpgpusim.config trace.config

The files are read as they are: `-option value` in any number on a line, `#` comments, quoted values over several
lines; BookSim's `key = value;` with `//` comments. Of an option that is given twice the last counts. Values that
the files do not say come from a GPU model: that of `-c`, or else the one nearest to their compute capability; where
a mapping needs a second option that is not given, it takes Accel-Sim's default (in brackets below). `--set` comes
last and wins. The result goes through the same checks as every configuration.

Each option is mapped, ignored with a reason, or unknown. `lockstep config --accelsim-config` prints the resolved
configuration with the options that each value comes from, and then the two lists; `lockstep run -o OUT` writes the
same as `OUT/accelsim-config.txt`. With `--strict` an unknown option is an error. An ignored option whose value asks
for something that Lockstep does otherwise is marked `DIFFERS`.

Latencies of execution and of the L1: Accel-Sim counts the execution stage, Lockstep from issue to dependent issue.
A cycle each for operand read and write-back is added: `int 2` and `sp 2` become the 4 cycles that V100's IADD and
FFMA measure. Accel-Sim's own distance is longer and varies with bank conflicts (6.8 cycles for a chain of FFMA at
latency 2); that is not reproduced.

Accel-Sim's crossbar takes a cycle, and `-gpgpu_l2_rop_latency` stands for the whole way to the L2 and back;
Lockstep's channels carry their part of it, and the window follows from them.

### Mapped

)";

}  // namespace

std::string annotated_ini(const Translation& translation, const config::Resolved& resolved) {
  std::string out = fmt::format("; {} on the base {}\n", summary(translation), printable(translation.base));
  std::string_view group;
  for (const config::Parameter& p : config::schema()) {
    const std::string_view own = config::group_of(p.key);
    if (own != group) out += fmt::format("\n[{}]\n", own);
    group = own;
    out += fmt::format("{} = {} ; {}\n", std::string_view(p.key).substr(own.size() + 1),
                       config::value_with_unit(p, resolved.config),
                       origin_text(resolved.origins.at(p.key), translation));
  }
  return out + ignored_list(translation) + unknown_list(translation);
}

std::string summary(const Translation& translation) {
  const auto differ = std::count_if(translation.ignored.begin(), translation.ignored.end(),
                                    [](const Ignored& entry) { return entry.differs; });
  std::string out = fmt::format("{} Accel-Sim options mapped, {} ignored", translation.mapped.size(),
                                translation.ignored.size());
  if (differ > 0) out += fmt::format(" ({} of them differ from the model)", differ);
  return out + fmt::format(", {} unknown", translation.unknown.size());
}

std::string markdown() {
  return std::string(kPreface) + mapped_table() +
         "\n### Ignored\n\nColumn \"modelled\": the value that describes what Lockstep does; empty where no "
         "value "
         "would change a cycle\nhere.\n\n" +
         ignored_table(ignored_options()) +
         "\n### Ignored keys of BookSim files\n\nWith `-network_mode 2` BookSim is not used, and all of its "
         "keys are "
         "ignored.\n\n" +
         ignored_table(ignored_booksim_keys()) + stats_markdown();
}

}  // namespace lockstep::accelsim
