#include "trace/compact_directory.hpp"

#include <algorithm>
#include <limits>

#include "trace/compact_blocks.hpp"
#include "trace/compact_chunk.hpp"
#include "trace/host_task_code.hpp"
#include "trace/net_operation_code.hpp"

namespace lockstep::trace {
namespace {

constexpr std::uint64_t kMaxTracer = 99;

void put_dimensions(Bytes& out, const Dim3& d) {
  put_varint(out, d.x);
  put_varint(out, d.y);
  put_varint(out, d.z);
}

Dim3 get_dimensions(ByteReader& in, std::uint64_t max_x, std::uint64_t max_yz) {
  Dim3 d;
  d.x = static_cast<std::uint32_t>(in.number(max_x, "a dimension"));
  d.y = static_cast<std::uint32_t>(in.number(max_yz, "a dimension"));
  d.z = static_cast<std::uint32_t>(in.number(max_yz, "a dimension"));
  if (d.count() == 0) throw BrokenBlock("a dimension is 0; expected at least 1");
  return d;
}

void put_header(Bytes& out, const KernelHeader& h, bool clusters) {
  put_text(out, h.name);
  put_varint(out, h.id);
  put_dimensions(out, h.grid);
  put_dimensions(out, h.block);
  put_varint(out, h.shared_bytes);
  put_varint(out, h.registers);
  put_varint(out, h.binary_version);
  put_varint(out, h.stream);
  put_varint(out, h.shared_base);
  put_varint(out, h.local_base);
  put_varint(out, h.tracer_version);
  put_varint(out, h.line_info ? 1 : 0);
  put_text(out, h.nvbit_version);
  if (!clusters) return;
  put_dimensions(out, h.cluster);
  put_varint(out, h.shared_ranks ? 1 : 0);
}

Dim3 get_cluster(ByteReader& in, const Dim3& grid) {
  const Dim3 c = get_dimensions(in, kMaxClusterCtas, kMaxClusterCtas);
  if (c.count() > kMaxClusterCtas) throw BrokenBlock("a cluster has more than 16 thread blocks");
  if (grid.x % c.x != 0 || grid.y % c.y != 0 || grid.z % c.z != 0)
    throw BrokenBlock("a grid's dimension is not a multiple of its cluster's");
  return c;
}

KernelHeader get_header(ByteReader& in, bool clusters) {
  const auto small = [&](std::uint64_t limit, const char* what) {
    return static_cast<std::uint32_t>(in.number(limit, what));
  };
  KernelHeader h;
  h.name = in.text();
  h.id = in.varint();
  h.grid = get_dimensions(in, KernelHeader::kMaxGridX, KernelHeader::kMaxGridYz);
  h.block = get_dimensions(in, KernelHeader::kMaxThreads, KernelHeader::kMaxThreads);
  if (h.block.count() > KernelHeader::kMaxThreads)
    throw BrokenBlock("a thread block has more than 1024 threads");
  h.shared_bytes = small(KernelHeader::kMaxShared, "the shared memory of a kernel");
  h.registers = small(KernelHeader::kMaxRegisters, "the registers of a kernel");
  h.binary_version = small(KernelHeader::kNewestBinary, "the binary version");
  h.stream = in.varint();
  h.shared_base = in.varint();
  h.local_base = in.varint();
  h.tracer_version = small(kMaxTracer, "the tracer version");
  h.line_info = in.number(1, "the line information flag") == 1;
  h.nvbit_version = in.text();
  if (!clusters) return h;
  h.cluster = get_cluster(in, h.grid);
  h.shared_ranks = in.number(1, "the flag of ranks in shared addresses") == 1;
  return h;
}

void put_l2(Bytes& out, const L2Launch& l2) {
  put_varint(out, l2.bytes);
  if (l2.bytes > 0) {
    put_varint(out, l2.base);
    put_varint(out, l2.ratio);
    put_varint(out, static_cast<std::uint64_t>(l2.hit));
    put_varint(out, static_cast<std::uint64_t>(l2.miss));
  }
  put_varint(out, l2.set_aside);
  put_varint(out, l2.resets);
}

L2Launch get_l2(ByteReader& in) {
  constexpr auto kPriorities = static_cast<std::uint64_t>(L2Priority::kNormal);
  L2Launch l2;
  l2.bytes = in.varint();
  if (l2.bytes > 0) {
    l2.base = in.varint();
    l2.ratio = static_cast<std::uint32_t>(in.number(L2Launch::kWhole, "the ratio of an L2 window"));
    l2.hit = static_cast<L2Priority>(in.number(kPriorities, "a priority of an L2 window"));
    l2.miss = static_cast<L2Priority>(in.number(kPriorities, "a priority of an L2 window"));
  }
  l2.set_aside = in.varint();
  l2.resets = static_cast<std::uint32_t>(
      in.number(std::numeric_limits<std::uint32_t>::max(), "the number of resets of the L2"));
  return l2;
}

}  // namespace

void encode_kernel(const KernelEntry& kernel, Bytes& out, std::uint32_t version) {
  put_header(out, kernel.header, version >= kClusterVersion);
  put_varint(out, kernel.remarks.size());
  for (const std::string& remark : kernel.remarks) put_text(out, remark);
  put_varint(out, kernel.table);
  put_varint(out, kernel.chunks.size());
  std::uint64_t before = kernel.table;
  for (const ChunkEntry& chunk : kernel.chunks) {
    put_varint(out, zigzag(chunk.offset - before));
    put_varint(out, chunk.ctas);
    before = chunk.offset;
  }
  if (!kernel.size) return;
  put_varint(out, kernel.size->instructions);
  put_varint(out, kernel.size->address_words);
  if (version >= kPersistVersion) put_l2(out, kernel.header.l2);
}

KernelEntry decode_kernel(ByteReader& in, std::uint32_t version) {
  KernelEntry kernel;
  kernel.header = get_header(in, version >= kClusterVersion);
  for (std::uint64_t n = in.number(in.left(), "the number of remarks"); n > 0; --n)
    kernel.remarks.push_back(in.text());
  kernel.table = in.varint();
  std::uint64_t before = kernel.table, ctas = 0;
  const std::uint64_t total = kernel.header.grid.count();
  for (std::uint64_t n = in.number(in.left(), "the number of chunks"); n > 0; --n) {
    ChunkEntry chunk;
    chunk.offset = before += in.difference();
    chunk.ctas = in.number(std::min(kMaxChunkCtas, total - ctas), "the number of thread blocks");
    if (chunk.ctas == 0) throw BrokenBlock("a chunk has no thread blocks");
    ctas += chunk.ctas;
    kernel.chunks.push_back(chunk);
  }
  if (ctas != total) {
    throw BrokenBlock("kernel " + kernel.header.name + " has " + std::to_string(ctas) +
                      " thread blocks; expected the " + std::to_string(total) + " of its grid");
  }
  if (version >= kSizeVersion) {
    kernel.size.emplace();
    kernel.size->instructions = in.varint();
    kernel.size->address_words = in.varint();
  }
  if (version >= kPersistVersion) kernel.header.l2 = get_l2(in);
  return kernel;
}

namespace {

bool has_memory(Command::Kind kind) {
  using Kind = Command::Kind;
  return (kind <= Kind::kStreamCopyToHost && kind != Kind::kKernel) ||
         (kind >= Kind::kDeviceAccess && kind <= Kind::kNetQueue);
}
bool has_stream(Command::Kind kind) {
  using Kind = Command::Kind;
  return (kind >= Kind::kStreamCopyToDevice && kind <= Kind::kStreamWait) ||
         (kind >= Kind::kDeviceAccess && kind <= Kind::kPeerCopy) || kind == Kind::kHostTask;
}
bool has_place(Command::Kind kind) {
  using Kind = Command::Kind;
  return kind == Kind::kAdvise || kind == Kind::kPrefetch || kind == Kind::kStreamPrefetch;
}
/// Whether it reads or writes is said.
bool has_sort(Command::Kind kind) {
  return kind == Command::Kind::kHostAccess || kind == Command::Kind::kDeviceAccess;
}
bool has_source(Command::Kind kind) {
  using Kind = Command::Kind;
  return kind == Kind::kPeerCopy || kind == Kind::kMulticast || kind == Kind::kNetQueue;
}
bool has_event(Command::Kind kind) {
  return kind == Command::Kind::kStreamWait || kind == Command::Kind::kEventWait;
}

/// The kinds of a kernel's command that is a graph's node, and of an event's record with a timestamp. Kinds
/// of Command that are newer come behind them.
constexpr std::uint64_t kGraphNode = 25, kTimestamp = 27, kFileKinds = Command::kKinds + 2;
/// Added to the kind of a command that is another device's than the first.
constexpr std::uint64_t kOnDevice = 32;
static_assert(kFileKinds <= kOnDevice);

std::uint64_t file_kind(const Command& command) {
  if (command.graph_node) return kGraphNode;
  if (command.timestamp != Command::Timestamp::kNone) return kTimestamp;
  auto kind = static_cast<std::uint64_t>(command.kind);
  for (const std::uint64_t taken : {kGraphNode, kTimestamp}) kind += kind >= taken ? 1 : 0;
  return kind;
}

Command::Kind kind_in_file(std::uint64_t kind) {
  if (kind == kGraphNode) return Command::Kind::kKernel;
  if (kind == kTimestamp) return Command::Kind::kEventRecord;
  return static_cast<Command::Kind>(kind - (kind > kGraphNode ? 1 : 0) - (kind > kTimestamp ? 1 : 0));
}

/// A named place: 0 is device 0, 1 the host, then the other devices.
std::uint64_t place_number(const Command& command) {
  if (command.host) return 1;
  return command.place == 0 ? 0 : command.place + 1u;
}

void decode_place(ByteReader& in, Command& command) {
  const std::uint64_t number = in.number(Command::kMaxDevices, "the place of a command");
  command.host = number == 1;
  if (number > 1) command.place = static_cast<std::uint16_t>(number - 1);
}

Command::Timestamp decode_timestamp(ByteReader& in) {
  const std::uint64_t number = in.number(Command::kTimestamps - 1, "whose time an event's record is");
  if (number == 0) throw BrokenBlock("an event's record has the timestamp 0; expected 1 or 2");
  return static_cast<Command::Timestamp>(number);
}

void decode_kind(ByteReader& in, Command& command) {
  const std::uint64_t kind = in.number(kOnDevice + kFileKinds - 1, "the kind of a command");
  if (kind % kOnDevice >= kFileKinds)
    throw BrokenBlock("the kind of a command is " + std::to_string(kind) + "; expected one below " +
                      std::to_string(kFileKinds) + ", or " + std::to_string(kOnDevice) + " more");
  const std::uint64_t in_file = kind % kOnDevice;
  command.graph_node = in_file == kGraphNode;
  command.kind = kind_in_file(in_file);
  if (in_file == kTimestamp) command.timestamp = Command::Timestamp::kEvent;  // until it is read
  if (kind >= kOnDevice)
    command.device =
        static_cast<std::uint16_t>(in.number(Command::kMaxDevices - 1u, "the device of a command"));
}

}  // namespace

void encode_command(const Command& command, Bytes& out) {
  using Kind = Command::Kind;
  put_varint(out, file_kind(command) + (command.device != 0 ? kOnDevice : 0));
  if (command.device != 0) put_varint(out, command.device);
  if (command.kind == Kind::kKernel) put_varint(out, command.kernel);
  if (has_memory(command.kind)) {
    put_varint(out, command.address);
    put_varint(out, command.bytes);
  }
  if (command.kind == Kind::kAdvise) put_varint(out, command.advice);
  if (has_place(command.kind)) put_varint(out, place_number(command));
  if (has_sort(command.kind)) put_varint(out, command.write ? 1 : 0);
  if (has_stream(command.kind)) put_varint(out, command.stream);
  if (command.timestamp != Command::Timestamp::kNone)
    put_varint(out, static_cast<std::uint64_t>(command.timestamp));
  if (has_event(command.kind)) put_varint(out, command.event);
  if (has_source(command.kind)) put_varint(out, command.source);
  if (command.kind == Kind::kNetOperation) encode_net_operation(command.operation, out);
  if (command.kind == Kind::kHostTask) encode_host_task(command.task, out);
  if (command.kind != Kind::kHostCall) return;
  put_varint(out, command.thread);
  put_varint(out, static_cast<std::uint64_t>(command.call));
}

Command decode_command(ByteReader& in, std::uint64_t kernels, std::uint64_t events) {
  using Kind = Command::Kind;
  constexpr std::uint64_t kMaxAdvice = 6;
  Command command;
  decode_kind(in, command);
  if (command.kind == Kind::kKernel) {
    if (kernels == 0) throw BrokenBlock("a command names a kernel before there is one");
    command.kernel = static_cast<std::uint32_t>(in.number(kernels - 1, "the kernel of a command"));
  }
  if (has_memory(command.kind)) {
    command.address = in.varint();
    command.bytes = in.varint();
  }
  if (command.kind == Kind::kAdvise)
    command.advice = static_cast<std::uint8_t>(in.number(kMaxAdvice, "an advice"));
  if (has_place(command.kind)) decode_place(in, command);
  if (has_sort(command.kind)) command.write = in.number(1, "the sort of an access") == 1;
  if (has_stream(command.kind)) command.stream = in.varint();
  if (command.timestamp != Command::Timestamp::kNone) command.timestamp = decode_timestamp(in);
  if (has_event(command.kind)) {
    if (events == 0) throw BrokenBlock("a command waits for an event before one is recorded");
    command.event = static_cast<std::uint32_t>(in.number(events - 1, "the event of a command"));
  }
  if (has_source(command.kind)) command.source = in.varint();
  if (command.kind == Kind::kNetOperation) command.operation = decode_net_operation(in);
  if (command.kind == Kind::kHostTask) command.task = decode_host_task(in);
  if (command.kind == Kind::kHostCall) {
    command.thread = static_cast<std::uint32_t>(in.number(Command::kMaxThreads - 1, "a host thread"));
    command.call = static_cast<Command::Call>(in.number(Command::kCalls - 1, "a call of a host thread"));
  }
  return command;
}

std::uint16_t devices_of(const std::vector<Command>& commands) {
  std::uint16_t most = 0;
  for (const Command& command : commands)
    most = std::max({most, command.device, command.place, command.operation.target, command.task.peer});
  return static_cast<std::uint16_t>(most + 1);
}

bool has_host_tasks(const std::vector<Command>& commands) {
  return std::ranges::any_of(commands, [](const Command& c) { return c.kind == Command::Kind::kHostTask; });
}

std::uint32_t version_of(const CompactDirectory& directory) {
  const auto says_devices = [](const Command& c) {
    return c.device != 0 || c.place != 0 || c.kind >= Command::Kind::kPeerCopy;
  };
  const auto says_lines = [](const KernelEntry& k) { return k.header.line_info; };
  const auto says_network = [](const Command& c) { return is_network(c.kind); };
  const auto says_host = [](const Command& c) { return c.kind == Command::Kind::kHostCall || c.graph_node; };
  const auto says_task = [](const Command& c) { return c.kind == Command::Kind::kHostTask; };
  const auto says_message = [&](const Command& c) { return says_task(c) && is_library_task(c.task.kind); };
  const auto says_one_sided = [&](const Command& c) { return says_task(c) && is_one_sided(c.task.kind); };
  const auto says_elapse = [&](const Command& c) {
    return says_task(c) && c.task.kind == HostTask::Kind::kElapse;
  };
  const auto says_timestamp = [](const Command& c) { return c.timestamp != Command::Timestamp::kNone; };
  const auto says_l2 = [](const KernelEntry& k) { return k.size && k.header.l2 != L2Launch{}; };
  const auto says_size = [](const KernelEntry& k) { return k.size.has_value(); };
  const auto says_clusters = [](const KernelEntry& k) { return k.header.cluster.count() > 1; };
  if (std::ranges::any_of(directory.kernels, says_clusters)) return kClusterVersion;
  if (std::ranges::any_of(directory.kernels, says_l2)) return kPersistVersion;
  if (std::ranges::any_of(directory.commands, says_elapse)) return kElapseVersion;
  if (std::ranges::any_of(directory.commands, says_one_sided)) return kOneSidedVersion;
  if (std::ranges::any_of(directory.commands, says_timestamp)) return kTimestampVersion;
  if (std::ranges::any_of(directory.commands, says_message)) return kMessageVersion;
  if (std::ranges::any_of(directory.commands, says_task)) return kTaskVersion;
  if (std::ranges::any_of(directory.commands, says_host)) return kHostVersion;
  if (std::ranges::any_of(directory.commands, says_network)) return kNetworkVersion;
  if (std::ranges::any_of(directory.kernels, says_size)) return kSizeVersion;
  if (std::ranges::any_of(directory.commands, says_devices)) return kDeviceVersion;
  return std::ranges::any_of(directory.kernels, says_lines) ? kLineVersion : kPlainVersion;
}

void encode_directory(const CompactDirectory& directory, Bytes& out) {
  out.clear();
  put_text(out, directory.name);
  put_fixed(out, directory.hash, 8);
  put_varint(out, directory.kernels.size());
  const std::uint32_t version = version_of(directory);
  for (const KernelEntry& kernel : directory.kernels) encode_kernel(kernel, out, version);
  put_varint(out, directory.commands.size());
  for (const Command& command : directory.commands) encode_command(command, out);
}

CompactDirectory decode_directory(std::span<const std::uint8_t> bytes, std::uint32_t version) {
  ByteReader in(bytes);
  CompactDirectory directory;
  directory.name = in.text();
  directory.hash = in.fixed(8);
  for (std::uint64_t n = in.number(in.left(), "the number of kernels"); n > 0; --n)
    directory.kernels.push_back(decode_kernel(in, version));
  std::uint64_t events = 0;
  for (std::uint64_t n = in.number(in.left(), "the number of commands"); n > 0; --n) {
    directory.commands.push_back(decode_command(in, directory.kernels.size(), events));
    if (directory.commands.back().kind == Command::Kind::kEventRecord) ++events;
  }
  if (directory.kernels.empty() && !has_host_tasks(directory.commands))
    throw BrokenBlock("the trace has no kernels");
  in.expect_end("the directory");
  return directory;
}

}  // namespace lockstep::trace
