#include "stats/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "stats/descriptors.hpp"
#include "stats/report.hpp"
#include "stats/text.hpp"

namespace lockstep::stats {
namespace {

/// Takes the next word of `rest`; empty at its end.
std::string_view next_word(std::string_view& rest) {
  const auto begin = std::min(rest.find_first_not_of(' '), rest.size());
  const auto end = std::min(rest.find(' ', begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

/// A count and that many names; false where the text is not one.
bool take_names(std::string_view& rest, std::vector<std::string_view>& names) {
  const std::string_view count = next_word(rest);
  if (count.empty() || count.size() > 2 || count.find_first_not_of("0123456789") != std::string_view::npos)
    return false;
  for (int n = std::stoi(std::string(count)); n > 0; --n) names.push_back(next_word(rest));
  return names.empty() || !names.back().empty();
}

/// "1,2,3": of every reason but `empty`.
std::string stalls_text(const StallCycles& stalls) {
  std::string text;
  for (unsigned s = 0; s < kStalls; ++s)
    if (s != static_cast<unsigned>(Stall::kEmpty))
      fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ",", stalls[s]);
  return text;
}

std::string row_text(const InstructionCounters& c) {
  return fmt::format("[{},{},{},{},{},{}]", c.threads, stalls_text(c.stalls), c.l1_sectors, c.l2_sectors,
                     c.shared_wavefronts, c.constant_passes);
}

std::string subcore_text(const StallCycles& stalls) { return "[" + stalls_text(stalls) + "]"; }

std::string instruction_text(const ProfiledInstruction& i) {
  std::string text = fmt::format("{{\"pc\":{},\"text\":{}", i.pc, json_string(i.text));
  if (!i.ptx.empty()) text += fmt::format(",\"ptx\":{}", json_string(i.ptx));
  if (i.source_line != 0) {
    if (!i.source_file.empty()) text += fmt::format(",\"file\":{}", json_string(i.source_file));
    text += fmt::format(",\"line\":{}", i.source_line);
  }
  return text + "}";
}

template <class Items, class Text>
std::string list(const Items& items, std::string_view separator, const Text& text_of) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += separator;
    text += text_of(item);
  }
  return text;
}

}  // namespace

std::string readable_instruction(std::string_view text) {
  std::string_view rest = text;
  std::vector<std::string_view> operands;
  if (!take_names(rest, operands)) return std::string(text);
  std::string out(next_word(rest));
  if (out.empty() || !take_names(rest, operands)) return std::string(text);
  const char* separator = " ";
  for (const std::string_view operand : operands) {
    out += separator;
    out += operand;
    separator = ", ";
  }
  return out;
}

std::vector<ProfileColumn> subcore_columns() {
  std::vector<ProfileColumn> columns;
  for (unsigned s = 0; s < kStalls; ++s) {
    if (s == static_cast<unsigned>(Stall::kEmpty)) continue;
    const std::string_view name = stall_name(static_cast<Stall>(s));
    columns.push_back({std::string(name), s == 0 ? "instructions" : "cycles",
                       s == 0 ? "times that a warp issued it" : "sub-core cycles booked for this reason"});
  }
  return columns;
}

std::vector<ProfileColumn> profile_columns() {
  std::vector<ProfileColumn> columns{{"threads", "instructions", "active lanes, summed over its issues"}};
  for (ProfileColumn& column : subcore_columns()) columns.push_back(std::move(column));
  columns.push_back({"l1_sectors", "sectors", "looked up in the L1 data caches"});
  columns.push_back({"l2_sectors", "sectors", "requested from the L2 or sent to it"});
  columns.push_back({"shared_wavefronts", "wavefronts", "passes over the shared-memory banks"});
  columns.push_back({"constant_passes", "passes", "distinct addresses of loads from constant memory"});
  return columns;
}

std::string profile_json(const RunReport& report) {
  std::string text = fmt::format(
      "{{\n  \"schema\":1,\n  \"version\":{},\n  \"gpu\":{},\n  \"config_hash\":\"{}\",\n"
      "  \"trace\":{{\"name\":{},\"hash\":\"{}\"}},\n",
      json_string(report.version), json_string(report.gpu), hex16(report.config_hash),
      json_string(report.trace_name), hex16(report.trace_hash));
  text += "  \"columns\":[" +
          list(profile_columns(), ",", [](const auto& c) { return json_string(c.name); }) +
          "],\n  \"subcore_columns\":[" +
          list(subcore_columns(), ",", [](const auto& c) { return json_string(c.name); }) + "],\n";
  text +=
      "  \"codes\":[" + list(report.codes, ",", [](const ProfiledCode& code) {
        return fmt::format("\n    {{\"kernel\":{},\"instructions\":[\n      {}]}}", json_string(code.kernel),
                           list(code.instructions, ",\n      ", instruction_text));
      });
  text += "],\n  \"kernels\":[";
  const char* separator = "";
  for (std::size_t k = 0; k < report.kernels.size(); ++k) {
    const KernelResult& kernel = report.kernels[k];
    if (kernel.profile.instructions.empty()) continue;
    text += fmt::format(
        "{}\n    {{\"kernel\":{},\"id\":{},\"code\":{},\"rows\":[\n      {}],\n    \"subcores\":[\n      "
        "{}]}}",
        separator, k, kernel.id, kernel.code, list(kernel.profile.instructions, ",\n      ", row_text),
        list(kernel.profile.subcores, ",\n      ", subcore_text));
    separator = ",";
  }
  return text + "]\n}\n";
}

}  // namespace lockstep::stats
