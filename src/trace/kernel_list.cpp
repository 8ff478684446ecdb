#include "trace/kernel_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

bool is_decimal(std::string_view field, std::uint64_t& value) {
  return scan_decimal(field.data(), value) == field.data() + field.size();
}

/// "MemcpyHtoD,ADDRESS,BYTES", with ",STREAM" behind it when it is known
Command parse_copy(const TextStream& stream, std::string_view line, bool to_device) {
  const auto commas = std::count(line.begin(), line.end(), ',');
  std::string_view rest = line;
  cut_field(rest);
  const std::string_view address = cut_field(rest), bytes = cut_field(rest), in = cut_field(rest);
  Command command;
  command.kind = to_device ? Command::Kind::kCopyToDevice : Command::Kind::kCopyToHost;
  if (commas == 3)
    command.kind = to_device ? Command::Kind::kStreamCopyToDevice : Command::Kind::kStreamCopyToHost;
  if ((commas != 2 && commas != 3) ||
      scan_hex(address.data(), command.address) != address.data() + address.size() ||
      !is_decimal(bytes, command.bytes) || (commas == 3 && !is_decimal(in, command.stream))) {
    stream.fail(
        fmt::format("found {}; expected 'MemcpyHtoD,ADDRESS,BYTES' with a hexadecimal address and a decimal "
                    "count, and after them ',STREAM' or nothing",
                    shown(line)));
  }
  return command;
}

/// A command whose fields are numbers: a letter for each, see read_field().
struct Verb {
  std::string_view verb, form;
  Command::Kind kind;
  std::string_view fields;
};
constexpr Verb kVerbs[] = {
    {"Wait", "Wait", Command::Kind::kWait, ""},
    {"EventRecord", "EventRecord,STREAM", Command::Kind::kEventRecord, "s"},
    {"StreamWait", "StreamWait,STREAM,EVENT", Command::Kind::kStreamWait, "se"},
    {"EventWait", "EventWait,EVENT", Command::Kind::kEventWait, "e"},
    {"MemcpyPeer", "MemcpyPeer,TO,FROM,BYTES,STREAM", Command::Kind::kPeerCopy, "afbs"},
    {"Place", "Place,ADDRESS,BYTES", Command::Kind::kPlace, "ab"},
    {"Multicast", "Multicast,ADDRESS,MEMORY,BYTES", Command::Kind::kMulticast, "afb"},
};

bool is_hexadecimal(std::string_view field, Address& value) {
  return scan_hex(field.data(), value) == field.data() + field.size();
}

bool read_field(char kind, std::string_view field, Command& command, std::uint64_t& event) {
  switch (kind) {
    case 'a':
      return is_hexadecimal(field, command.address);
    case 'f':
      return is_hexadecimal(field, command.source);
    case 'b':
      return is_decimal(field, command.bytes);
    case 's':
      return is_decimal(field, command.stream);
    default:
      return is_decimal(field, event);
  }
}

/// `records`: events recorded before.
Command parse_verb(const TextStream& stream, std::string_view line, const Verb& verb, std::uint64_t records) {
  std::string_view rest = line;
  cut_field(rest);
  Command command;
  command.kind = verb.kind;
  std::uint64_t event = 0;
  bool good = std::count(line.begin(), line.end(), ',') == static_cast<std::ptrdiff_t>(verb.fields.size());
  for (const char kind : verb.fields) good = good && read_field(kind, cut_field(rest), command, event);
  if (!good)
    stream.fail(fmt::format("found {}; expected '{}', addresses hexadecimal and other numbers decimal",
                            shown(line), verb.form));
  if (verb.fields.ends_with('e') && event >= records)
    stream.fail(fmt::format("event {}; expected one of the {} recorded before", event, records));
  command.event = static_cast<std::uint32_t>(event);
  return command;
}

/// "Device,N": who carries out what follows.
std::uint16_t parse_device(const TextStream& stream, std::string_view line) {
  std::string_view rest = line;
  cut_field(rest);
  std::uint64_t device = 0;
  if (!is_decimal(rest, device) || device >= Command::kMaxDevices)
    stream.fail(fmt::format("found {}; expected 'Device,N' with N from 0 to {}", shown(line),
                            Command::kMaxDevices - 1));
  return static_cast<std::uint16_t>(device);
}

bool names_trace_file(std::string_view line) {
  for (const std::string_view end : {".xz", ".gz", ".zst"}) {
    if (line.ends_with(end)) line.remove_suffix(end.size());
  }
  return line.ends_with(".traceg") || line.ends_with(".trace");
}

void parse_line(const TextStream& stream, std::string_view line, KernelList& list) {
  const std::string_view verb = trim(line.substr(0, line.find(',')));
  const auto* const known =
      std::find_if(std::begin(kVerbs), std::end(kVerbs), [&](const Verb& v) { return v.verb == verb; });
  const auto add = [&list](Command command) {
    command.device = list.device;
    list.commands.push_back(command);
  };
  if (verb == "MemcpyHtoD" || verb == "MemcpyDtoH") {
    add(parse_copy(stream, line, verb == "MemcpyHtoD"));
  } else if (verb == "Device") {
    list.device = parse_device(stream, line);
  } else if (known != std::end(kVerbs)) {
    add(parse_verb(stream, line, *known, list.events));
    if (known->kind == Command::Kind::kEventRecord) ++list.events;
  } else if (line.starts_with("kernel") || names_trace_file(line)) {
    Command command;
    command.kernel = static_cast<std::uint32_t>(list.files.size());
    add(command);
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
