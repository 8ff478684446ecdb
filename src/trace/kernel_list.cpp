#include "trace/kernel_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "trace/device_folders.hpp"
#include "trace/host_task_code.hpp"
#include "trace/moved_addresses.hpp"
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

/// A command whose fields are numbers: a letter for each, see ListParser::field().
struct Verb {
  std::string_view verb, form;
  Command::Kind kind;
  std::string_view fields;
};
constexpr Verb kVerbs[] = {
    {"Wait", "Wait", Command::Kind::kWait, ""},
    {"EventRecord", "EventRecord,STREAM", Command::Kind::kEventRecord, "s"},
    {"Timestamp", "Timestamp,STREAM,WHOSE", Command::Kind::kEventRecord, "sT"},
    {"StreamWait", "StreamWait,STREAM,EVENT", Command::Kind::kStreamWait, "se"},
    {"EventWait", "EventWait,EVENT", Command::Kind::kEventWait, "e"},
    {"MemcpyPeer", "MemcpyPeer,TO,FROM,BYTES,STREAM", Command::Kind::kPeerCopy, "afbs"},
    {"Place", "Place,ADDRESS,BYTES", Command::Kind::kPlace, "ab"},
    {"Multicast", "Multicast,ADDRESS,MEMORY,BYTES", Command::Kind::kMulticast, "afb"},
    {"NetMemory", "NetMemory,ADDRESS,BYTES", Command::Kind::kNetMemory, "ab"},
    {"NetQueue", "NetQueue,ADDRESS,READ_INDEX,BYTES", Command::Kind::kNetQueue, "afb"},
    {"NetOperation", "NetOperation,KIND,FLAGS,TARGET,QUEUE,READY,LOCAL,REMOTE,BYTES,SIGNAL",
     Command::Kind::kNetOperation, "kotqrlmng"},
    {"HostCall", "HostCall,THREAD,CALL", Command::Kind::kHostCall, "hc"},
    {"HostTask", "HostTask,KIND,PEER,INSTRUCTIONS,BYTES,LOCAL,REMOTE,STREAM", Command::Kind::kHostTask,
     "KPIBLMs"},
};

bool is_hexadecimal(std::string_view field, Address& value) {
  return scan_hex(field.data(), value) == field.data() + field.size();
}

bool names_trace_file(std::string_view line) {
  for (const std::string_view end : {".xz", ".gz", ".zst"}) {
    if (line.ends_with(end)) line.remove_suffix(end.size());
  }
  return line.ends_with(".traceg") || line.ends_with(".trace") || line.ends_with(".tracez");
}

class ListParser {
 public:
  ListParser(const TextStream& stream, const ListOptions& options, KernelList& list)
      : stream_(stream), own_(options.device), list_(list) {
    if (own_) list_.device = *own_;
  }

  void line(std::string_view line) {
    const std::string_view verb = trim(line.substr(0, line.find(',')));
    const auto* const known =
        std::find_if(std::begin(kVerbs), std::end(kVerbs), [&](const Verb& v) { return v.verb == verb; });
    if (verb == "MemcpyHtoD" || verb == "MemcpyDtoH") {
      add(copy(line, verb == "MemcpyHtoD"));
    } else if (own_ && (verb == "Device" || verb == "Place" || verb == "HostCall")) {
      stream_.fail(
          fmt::format("found {}; a device's own list (--device {}=...) has none", shown(line), *own_));
    } else if (verb == "Device") {
      list_.device = device(line);
    } else if (known != std::end(kVerbs)) {
      command(line, *known);
    } else if (verb == "GraphNode") {
      std::string_view rest = line;
      cut_field(rest);
      if (!names_kernel(trim(rest)))
        stream_.fail(fmt::format("found {}; expected 'GraphNode,FILE' with a kernel's file", shown(line)));
      kernel(trim(rest), true);
    } else if (names_kernel(line)) {
      kernel(line, false);
    } else {
      remark(fmt::format("list command {} is not modelled", shown(verb)));
    }
  }

 private:
  static bool names_kernel(std::string_view line) {
    return line.starts_with("kernel") || names_trace_file(line);
  }
  void kernel(std::string_view file, bool graph_node) {
    if (file.find('\0') != std::string_view::npos)
      stream_.fail(fmt::format("found {}; expected the name of a file, without zero bytes", shown(file)));
    Command command;
    command.kernel = static_cast<std::uint32_t>(list_.files.size());
    command.graph_node = graph_node;
    add(command);
    list_.files.emplace_back(file);
    list_.lines.push_back(stream_.line_number());
  }
  void add(Command command) {
    command.device = list_.device;
    list_.commands.push_back(command);
  }

  void remark(const std::string& text) {
    if (std::find(list_.remarks.begin(), list_.remarks.end(), text) == list_.remarks.end() &&
        list_.remarks.size() < 100) {
      list_.remarks.push_back(text);
    }
  }

  /// "3:" before a number of a device's own list: the device that it means. The device itself where nothing
  /// stands there.
  bool prefix(std::string_view& field, std::uint16_t& device) const {
    device = list_.device;
    const std::size_t colon = field.find(':');
    if (!own_ || colon == std::string_view::npos) return true;
    std::uint64_t number = 0;
    const char* const end = scan_decimal(field.data(), number);
    if (end != field.data() + colon || number >= kMaxDeviceFolders) return false;
    device = static_cast<std::uint16_t>(number);
    field.remove_prefix(colon + 1);
    return true;
  }

  bool address(std::string_view field, Address& value) const {
    std::uint16_t device = 0;
    if (!prefix(field, device) || !is_hexadecimal(field, value)) return false;
    if (own_) value = moved(value, device_region(device));
    return true;
  }

  /// "MemcpyHtoD,ADDRESS,BYTES", with ",STREAM" behind it when it is known. A tracer that keeps the data
  /// names its file there, "memcpy_htod_0_...", which says nothing of the stream.
  [[nodiscard]] Command copy(std::string_view line, bool to_device) const {
    auto commas = std::count(line.begin(), line.end(), ',');
    std::string_view rest = line;
    cut_field(rest);
    const std::string_view at = cut_field(rest), bytes = cut_field(rest), in = cut_field(rest);
    if (commas == 3 && in.starts_with("memcpy_")) commas = 2;
    Command command;
    command.kind = to_device ? Command::Kind::kCopyToDevice : Command::Kind::kCopyToHost;
    if (commas == 3)
      command.kind = to_device ? Command::Kind::kStreamCopyToDevice : Command::Kind::kStreamCopyToHost;
    if ((commas != 2 && commas != 3) || at.find(':') != std::string_view::npos ||
        !address(at, command.address) || !is_decimal(bytes, command.bytes) ||
        (commas == 3 && !is_decimal(in, command.stream))) {
      stream_.fail(fmt::format(
          "found {}; expected 'MemcpyHtoD,ADDRESS,BYTES' with a hexadecimal address and a "
          "decimal count, and after them ',STREAM', the ',memcpy_...' file of its data or nothing",
          shown(line)));
    }
    return command;
  }

  bool field(char kind, std::string_view field, Command& command, std::uint64_t& event,
             std::uint16_t& whose) const {
    switch (kind) {
      case 'a':
        return address(field, command.address);
      case 'f':
        return address(field, command.source);
      case 'b':
        return is_decimal(field, command.bytes);
      case 's':
        return is_decimal(field, command.stream);
      case 'k':
      case 'o':
      case 't':
      case 'q':
      case 'r':
      case 'l':
      case 'm':
      case 'n':
      case 'g':
        return operation_field(kind, field, command.operation);
      case 'K':
      case 'P':
      case 'I':
      case 'B':
      case 'L':
      case 'M':
        return task_field(kind, field, command.task);
      case 'h':
        return is_decimal(field, event) && event < Command::kMaxThreads &&
               (command.thread = static_cast<std::uint32_t>(event), true);
      case 'T':
        return is_decimal(field, event) && event > 0 && event < Command::kTimestamps &&
               (command.timestamp = static_cast<Command::Timestamp>(event), true);
      case 'c':
        return is_decimal(field, event) && event < Command::kCalls &&
               (command.call = static_cast<Command::Call>(event), true);
      default:
        return prefix(field, whose) && is_decimal(field, event) && event < kMaxEvents;
    }
  }

  /// The fields of a network operation.
  bool operation_field(char kind, std::string_view field, NetOperation& operation) const {
    std::uint64_t number = 0;
    const auto decimal = [&](std::uint64_t most) { return is_decimal(field, number) && number <= most; };
    switch (kind) {
      case 'k':
        if (!decimal(NetOperation::kKinds - 1)) return false;
        operation.kind = static_cast<NetOperation::Kind>(number);
        return true;
      case 'o':
        if (!decimal(3)) return false;
        operation.blocking = (number & 1) != 0;
        operation.inlined = (number & 2) != 0;
        return true;
      case 't':
        if (!decimal(Command::kMaxDevices - 1u)) return false;
        operation.target = static_cast<std::uint16_t>(number);
        return true;
      case 'q':
      case 'r':
        if (!decimal(0xffffffff)) return false;
        (kind == 'q' ? operation.queue : operation.ready) = static_cast<std::uint32_t>(number);
        return true;
      case 'l':
        return address_or_none(field, operation.local);
      case 'm':
        return address_or_none(field, operation.remote);
      case 'n':
        return is_decimal(field, operation.bytes);
      default:
        return address_or_none(field, operation.signal);
    }
  }
  /// Reads a field of a host task.
  bool task_field(char kind, std::string_view field, HostTask& task) const {
    std::uint64_t number = 0;
    switch (kind) {
      case 'K':
        if (!is_decimal(field, number) || number >= kHostTaskCodes) return false;
        set_code(task, number);
        return true;
      case 'P':
        if (!is_decimal(field, number) || number >= Command::kMaxDevices) return false;
        task.peer = static_cast<std::uint16_t>(number);
        return true;
      case 'I':
        return is_decimal(field, number) && set_instructions(task, number);
      case 'B':
        return is_decimal(field, task.bytes);
      default:
        return address_or_none(field, kind == 'L' ? task.local : task.remote);
    }
  }
  /// 0 means none, for any device.
  bool address_or_none(std::string_view field, Address& value) const {
    return (is_hexadecimal(field, value) && value == 0) || address(field, value);
  }

  void command(std::string_view line, const Verb& verb) {
    std::string_view rest = line;
    cut_field(rest);
    Command command;
    command.kind = verb.kind;
    std::uint64_t event = 0;
    std::uint16_t whose = list_.device;
    bool good = std::count(line.begin(), line.end(), ',') == static_cast<std::ptrdiff_t>(verb.fields.size());
    for (const char kind : verb.fields) good = good && field(kind, cut_field(rest), command, event, whose);
    if (!good)
      stream_.fail(fmt::format("found {}; expected '{}', addresses hexadecimal and other numbers decimal{}",
                               shown(line), verb.form,
                               own_ ? "; 'N:' before an address or event means that of device N" : ""));
    if (verb.fields.ends_with('e') && whose != list_.device) {
      list_.foreign.push_back({list_.commands.size(), whose, stream_.line_number()});
    } else if (verb.fields.ends_with('e') && event >= list_.events) {
      stream_.fail(fmt::format("event {}; expected one of the {} recorded before", event, list_.events));
    }
    command.event = static_cast<std::uint32_t>(event);
    add(command);
    if (verb.kind == Command::Kind::kEventRecord) ++list_.events;
  }

  /// "Device,N": who carries out what follows.
  [[nodiscard]] std::uint16_t device(std::string_view line) const {
    std::string_view rest = line;
    cut_field(rest);
    std::uint64_t device = 0;
    if (!is_decimal(rest, device) || device >= Command::kMaxDevices)
      stream_.fail(fmt::format("found {}; expected 'Device,N' with N from 0 to {}", shown(line),
                               Command::kMaxDevices - 1));
    return static_cast<std::uint16_t>(device);
  }

  static constexpr std::uint64_t kMaxEvents = std::uint64_t{1} << 32;
  const TextStream& stream_;
  std::optional<std::uint16_t> own_;
  KernelList& list_;
};

}  // namespace

KernelList read_kernel_list(TextStream stream, const ListOptions& options) {
  KernelList list;
  ListParser parser(stream, options, list);
  std::string_view line;
  for (bool first = true; stream.line(line); first = false) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (first && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    line = trim(line);
    if (!line.empty() && line[0] != '#') parser.line(line);
  }
  if (list.files.empty() && !has_host_tasks(list.commands))
    stream.fail("the list names no kernel; expected lines such as 'kernel-1.traceg'");
  return list;
}

}  // namespace lockstep::trace
