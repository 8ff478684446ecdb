#include "trace/kernel_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "trace/text_scan.hpp"

namespace lockstep::trace {
namespace {

std::string_view cut_field(std::string_view& rest) {
  const std::size_t comma = std::min(rest.find(','), rest.size());
  const std::string_view field = trim(rest.substr(0, comma));
  rest.remove_prefix(std::min(comma + 1, rest.size()));
  return field;
}

/// "MemcpyHtoD,ADDRESS,BYTES"
Command parse_copy(const TextStream& stream, std::string_view line, Command::Kind kind) {
  const auto commas = std::count(line.begin(), line.end(), ',');
  std::string_view rest = line;
  cut_field(rest);
  const std::string_view address = cut_field(rest), bytes = cut_field(rest);
  Command command;
  command.kind = kind;
  if (commas != 2 || scan_hex(address.data(), command.address) != address.data() + address.size() ||
      scan_decimal(bytes.data(), command.bytes) != bytes.data() + bytes.size()) {
    stream.fail(
        fmt::format("found {}; expected 'MemcpyHtoD,ADDRESS,BYTES' with a hexadecimal address and a decimal "
                    "count",
                    shown(line)));
  }
  return command;
}

bool names_trace_file(std::string_view line) {
  for (const std::string_view end : {".xz", ".gz", ".zst"}) {
    if (line.ends_with(end)) line.remove_suffix(end.size());
  }
  return line.ends_with(".traceg") || line.ends_with(".trace");
}

void parse_line(const TextStream& stream, std::string_view line, KernelList& list) {
  const std::string_view verb = trim(line.substr(0, line.find(',')));
  if (verb == "MemcpyHtoD") {
    list.commands.push_back(parse_copy(stream, line, Command::Kind::kCopyToDevice));
  } else if (verb == "MemcpyDtoH") {
    list.commands.push_back(parse_copy(stream, line, Command::Kind::kCopyToHost));
  } else if (line.starts_with("kernel") || names_trace_file(line)) {
    Command command;
    command.kernel = static_cast<std::uint32_t>(list.files.size());
    list.commands.push_back(command);
    list.files.emplace_back(line);
    list.lines.push_back(stream.line_number());
  } else {
    const std::string remark = fmt::format("list command {} is not modelled", shown(verb));
    if (std::find(list.remarks.begin(), list.remarks.end(), remark) == list.remarks.end() &&
        list.remarks.size() < 100) {
      list.remarks.push_back(remark);
    }
  }
}

}  // namespace

KernelList read_kernel_list(TextStream stream) {
  KernelList list;
  std::string_view line;
  while (stream.line(line)) {
    line = trim(line);
    if (!line.empty() && line[0] != '#') parse_line(stream, line, list);
  }
  if (list.files.empty()) stream.fail("the list names no kernel; expected lines such as 'kernel-1.traceg'");
  return list;
}

}  // namespace lockstep::trace
