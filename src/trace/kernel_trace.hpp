// The dynamic side of a trace: kernels, CTAs, warps and their records, in the form the timing model reads.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/host_task.hpp"
#include "trace/instruction.hpp"
#include "trace/l2_policy.hpp"
#include "trace/net_operation.hpp"
#include "util/types.hpp"

namespace lockstep::trace {

/// CTAs of the largest cluster (CUDA C++ Programming Guide, Thread Block Clusters): 8, or 16 where a kernel
/// allows for GPUs with larger ones.
inline constexpr std::uint32_t kMaxClusterCtas = 16;

struct KernelHeader {
  /// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
  static constexpr std::uint64_t kMaxGridX = (std::uint64_t{1} << 31) - 1, kMaxGridYz = 65535;
  static constexpr std::uint64_t kMaxThreads = 1024, kMaxThreadsZ = 64;
  static constexpr std::uint64_t kMaxShared = 1 << 24, kMaxRegisters = 1024;
  static constexpr std::uint64_t kOldestBinary = 35, kNewestBinary = 130;

  std::string name;
  std::uint64_t id = 0;
  Dim3 grid, block;
  Dim3 cluster;  // CTAs of one; its sizes divide the grid's
  /// Addresses of shared memory say whose it is: those below 2^24 are the CTA's own, those of the CTA with
  /// rank r in the cluster begin at (r + 1) << 24. So they are in recorded programs.
  bool shared_ranks = false;
  std::uint32_t shared_bytes = 0;    // per CTA, static and dynamic
  std::uint32_t registers = 0;       // per thread
  std::uint32_t binary_version = 0;  // 70 = sm_70
  std::uint64_t stream = 0;
  Address shared_base = 0, local_base = 0;  // windows of the generic address space
  std::uint32_t tracer_version = 0;
  bool line_info = false;
  std::string nvbit_version;
  L2Launch l2;
  [[nodiscard]] std::uint32_t threads_per_cta() const { return static_cast<std::uint32_t>(block.count()); }
  [[nodiscard]] std::uint32_t warps_per_cta() const {
    return (threads_per_cta() + kWarpSize - 1) / kWarpSize;
  }
};

/// How a record's lane addresses are kept in the word stream of its warp.
enum class AddressForm : std::uint8_t {
  kNone,    // 0 words
  kAffine,  // 2 words: base, stride (two's complement); lane l: base + stride * (l - first active lane)
  kDelta,   // 1 word base (first active lane), then (n-1) int32 packed two a word, low half first:
            // offset of each further active lane from the base
  kList,    // n words, one for each active lane
  kShared,  // 2 words: base; how many words before it the offsets of a kDelta begin, among the CTA's words.
            // Only in memory: see shared_offsets.hpp
};

/// One dynamic warp instruction: 8 bytes.
struct Record {
  std::uint32_t inst_and_form;  // static index in the low 29 bits, AddressForm in the high 3
  LaneMask mask;
  [[nodiscard]] std::uint32_t inst() const { return inst_and_form & 0x1fffffffu; }
  [[nodiscard]] AddressForm form() const { return static_cast<AddressForm>(inst_and_form >> 29); }
  bool operator==(const Record&) const = default;
  static Record make(std::uint32_t inst, AddressForm form, LaneMask mask) {
    return {inst | static_cast<std::uint32_t>(form) << 29, mask};
  }
};

/// Words that a record with `form` and `mask` occupies.
[[nodiscard]] inline unsigned address_words(AddressForm form, LaneMask mask) {
  const auto lanes = static_cast<unsigned>(std::popcount(mask));
  switch (form) {
    case AddressForm::kNone:
      return 0;
    case AddressForm::kAffine:
    case AddressForm::kShared:
      return 2;
    case AddressForm::kDelta:
      return 1 + lanes / 2;  // ceil((lanes - 1) / 2) words of offsets
    case AddressForm::kList:
      return lanes;
  }
  return 0;
}

/// The offsets of a record with kShared.
[[nodiscard]] inline const std::uint64_t* shared_offsets(const std::uint64_t* words) {
  return words - words[1];
}

/// Writes the address of each active lane to out[lane]; entries of inactive lanes are not changed.
void expand_addresses(AddressForm form, LaneMask mask, const std::uint64_t* words, Address out[kWarpSize]);

/// Appends the shortest form of `addresses` (indexed by lane) to `words` and returns it; never kShared.
AddressForm pack_addresses(LaneMask mask, const Address addresses[kWarpSize],
                           std::vector<std::uint64_t>& words);

/// Warps of a CTA with the same records may share them: spans may overlap. Words are each warp's own.
struct WarpSpan {
  std::uint32_t first_record = 0, record_count = 0;
  std::uint32_t first_word = 0;
};

/// One decoded CTA. Owned by its CtaFeed, lent to the SM that runs it.
struct CtaTrace {
  std::uint64_t index = 0;  // position in the kernel, in the file's order
  Dim3 id{0, 0, 0};
  std::vector<WarpSpan> warps;  // exactly header.warps_per_cta()
  std::vector<Record> records;
  std::vector<std::uint64_t> words;
};

/// The static instructions of a kernel. Growing never moves an element: readers on other threads may hold
/// references to elements published before the last serial point.
class StaticTable {
 public:
  static constexpr unsigned kChunk = 1024;
  [[nodiscard]] const StaticInst& operator[](std::uint32_t i) const {
    return chunks_[i / kChunk][i % kChunk];
  }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// Serial points only. Throws std::length_error past kMaxChunks * kChunk.
  std::uint32_t push(const StaticInst& inst);
  static constexpr unsigned kMaxChunks = 4096;

 private:
  std::vector<std::unique_ptr<StaticInst[]>> chunks_ = std::vector<std::unique_ptr<StaticInst[]>>(kMaxChunks);
  std::uint32_t size_ = 0;
};

/// What was unusual in the trace, for the summary and `info`.
struct TraceNotes {
  std::vector<std::pair<std::string, std::uint64_t>> unknown_opcodes;  // sorted by name; dynamic count
  std::vector<std::string> remarks;  // "not faithful here because ..." lines, each once, sorted
};

/// A static instruction as it is written in the trace.
struct TracedInstruction {
  std::uint32_t pc = 0;        // as StaticInst's
  std::string_view text;       // destinations, opcode, sources and width: "1 R4 LDG.E 1 R8 4"
  std::int64_t immediate = 0;  // of its first record; 0 if there is none
  // A line of the program's source; 0 if it is not in the trace. Accel-Sim's tracer names no file.
  std::string_view source_file = {};
  std::uint32_t source_line = 0;
};

/// Hands out the CTAs of one kernel in file order, decoding ahead with the team of threads that simulates.
///
/// Calls in a window: at the serial point settle(), then want() and plan(); in the parallel phase the team
/// runs each task once, in any order, on any thread. CTAs that were wanted at one serial point are available
/// after the settle() of the next. Only the time of decoding depends on the number of threads and on timing.
class CtaFeed {
 public:
  /// CTAs that are decoded at once where none of them is timed.
  static constexpr std::uint64_t kAtOnce = 64;

  virtual ~CtaFeed() = default;
  [[nodiscard]] virtual const KernelHeader& header() const = 0;
  [[nodiscard]] virtual const StaticTable& instructions() const = 0;
  /// Serial. Where instructions()[i] comes from; the text is good until the feed's next call. Feeds that are
  /// not read from a trace have none.
  [[nodiscard]] virtual TracedInstruction traced(std::uint32_t) const { return {}; }

  /// Serial. CTAs [0, end) will be taken after the next settle().
  virtual void want(std::uint64_t end) = 0;
  /// Serial. How many tasks the team must run before the next settle(): the wanted CTAs and some read-ahead
  /// within a bounded amount of memory.
  [[nodiscard]] virtual std::size_t plan() = 0;
  /// Parallel. Never throws: errors are kept and delivered by settle() in CTA order.
  virtual void run(std::size_t task) noexcept = 0;
  /// Serial. Publishes what the tasks decoded (new static instructions in CTA order). Throws InputError once
  /// the broken CTA is wanted, never for read-ahead alone.
  virtual void settle() = 0;

  /// Any thread, after settle(): the decoded CTA `index`, once each. Valid until release().
  [[nodiscard]] virtual CtaTrace* take(std::uint64_t index) = 0;
  /// Any thread: the SM no longer needs the CTA. Its memory is used again after the next serial point.
  virtual void release(CtaTrace* cta) noexcept = 0;

  /// Serial. CTAs before `begin` are wanted; those of [begin, end) were not and will not be taken, and need
  /// not be decoded. Reads them if the trace has no index of CTAs. Throws InputError.
  virtual void skip(std::uint64_t begin, std::uint64_t end);

  /// Serial. What was unusual in the CTAs published so far.
  [[nodiscard]] virtual const TraceNotes& notes() const = 0;

  /// Serial, convenient for tools: decode everything wanted right here.
  void decode_now(std::uint64_t end) {
    want(end);
    for (std::size_t i = 0, n = plan(); i < n; ++i) run(i);
    settle();
  }
};

/// A host command of the trace, in list order.
struct Command {
  enum class Kind : std::uint8_t {
    kCopyToDevice,        // a copy whose order with the kernels around it is not in the trace
    kCopyToHost,          // likewise
    kKernel,              // in the stream that its header names
    kWait,                // the host waits until all commands before are complete
    kManage,              // a managed allocation begins (cudaMallocManaged, __managed__)
    kRelease,             // it ends (cudaFree): its pages are dropped
    kAdvise,              // cudaMemAdvise
    kPrefetch,            // cudaMemPrefetchAsync whose stream is not in the trace
    kHostAccess,          // the host reads or writes managed memory
    kStreamCopyToDevice,  // in `stream`, as those below
    kStreamCopyToHost,
    kEventRecord,     // an event that is complete when the stream's commands before it are
    kStreamWait,      // the stream's commands after it wait for `event`
    kEventWait,       // the host waits for `event`
    kDeviceAccess,    // in `stream`: the device itself reads or fills managed memory (cudaMemset)
    kStreamPrefetch,  // in `stream`: cudaMemPrefetchAsync
    kFill,            // in `stream`: the device fills its memory (cudaMemset)
    kDeviceCopy,      // in `stream`: a copy within device memory, to `address`
    kPeerCopy,        // in `stream`: a copy between two devices' memories, from `source` to `address`
    kPlace,           // the memory at `address` is that of `device`, from here on
    kMulticast,       // `address` also stands for the memory of `device` at `source`, from here on
    // Networking (net_operation.hpp).
    kNetMemory,     // memory of the device that its agent uses: commands to the NIC and their completions
    kNetQueue,      // a queue of the device: its entries, and at `source` the read index, to which the agent
                    // writes the number of finished entries, once for each
    kNetOperation,  // `operation`, which an agent may see from here on
    kHostCall,      // host thread `thread` spends the time of `call`; it makes the calls that follow
    kHostTask,      // in `stream`: `task` of the device's process
  } kind = Kind::kKernel;
  static constexpr std::uint64_t kKinds = 26;
  /// What takes time of a host thread; how much is configured (launch.call_ns, launch.wait_ns).
  enum class Call : std::uint8_t {
    kNothing,  // only names the calling thread
    kLaunch,   // a call that launches a kernel or a graph, whose work follows
    kReturn,   // from the wait before it
  };
  static constexpr std::uint64_t kCalls = 3;
  /// Whether a program that is executed again gets the time of an event's record (docs/mpi-programs.md).
  enum class Timestamp : std::uint8_t {
    kNone,
    kEvent,  // yes, as the time of one of its events
    kClock,  // yes, as that of a read of its clock
  };
  static constexpr std::uint64_t kTimestamps = 3;
  static constexpr std::uint32_t kMaxThreads = 1 << 16;
  static constexpr std::uint16_t kMaxDevices = 64;
  Address address = 0;          // copies, commands on managed memory: a range of memory
  std::uint64_t bytes = 0;      // of it
  std::uint32_t kernel = 0;     // kernels: index into TraceSet kernels
  std::uint8_t advice = 0;      // kAdvise: 1 to 6, the values of cudaMemoryAdvise
  bool host = false;            // kAdvise, prefetches: the place is the host; otherwise `place`
  bool write = false;           // kHostAccess, kDeviceAccess
  std::uint64_t stream = 0;     // stream copies, kEventRecord, kStreamWait, those from kDeviceAccess on,
                                // kHostTask
  std::uint32_t event = 0;      // kStreamWait, kEventWait: which kEventRecord before, counted from 0
  Address source = 0;           // kPeerCopy, kMulticast, kNetQueue
  std::uint16_t device = 0;     // executes it, and has the stream; below kMaxDevices
  std::uint16_t place = 0;      // kAdvise, prefetches: the device, if it is not the host
  NetOperation operation = {};  // kNetOperation
  HostTask task = {};           // kHostTask
  std::uint32_t thread = 0;     // kHostCall: 0 the program's first thread; below kMaxThreads
  Call call = Call::kNothing;   // kHostCall
  bool graph_node = false;      // kernels: the launch of a graph starts it, after the graph's first work
  Timestamp timestamp = Timestamp::kNone;  // kEventRecord
};
/// How many devices the commands need: at least 1.
[[nodiscard]] std::uint16_t devices_of(const std::vector<Command>& commands);
/// Whether any command is a task of a host: such a trace needs no kernels.
[[nodiscard]] bool has_host_tasks(const std::vector<Command>& commands);
[[nodiscard]] inline bool is_copy(Command::Kind kind) {
  using Kind = Command::Kind;
  return kind == Kind::kCopyToDevice || kind == Kind::kCopyToHost || kind == Kind::kStreamCopyToDevice ||
         kind == Kind::kStreamCopyToHost;
}
[[nodiscard]] inline bool is_copy_to_device(Command::Kind kind) {
  return kind == Command::Kind::kCopyToDevice || kind == Command::Kind::kStreamCopyToDevice;
}
[[nodiscard]] inline bool is_network(Command::Kind kind) {
  using Kind = Command::Kind;
  return kind == Kind::kNetMemory || kind == Kind::kNetQueue || kind == Kind::kNetOperation;
}

/// A trace: commands and kernels. Opening reads lists and headers only, checks that every file is there and
/// throws InputError otherwise, before any simulation.
class TraceSet {
 public:
  virtual ~TraceSet() = default;
  /// The folder's or file's own name, no path.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Hash over the content of list and kernel files (their bytes as stored), independent of paths.
  [[nodiscard]] virtual std::uint64_t content_hash() const = 0;
  [[nodiscard]] virtual const std::vector<Command>& commands() const = 0;
  [[nodiscard]] virtual const std::vector<KernelHeader>& kernels() const = 0;
  /// Opens kernel `index` for reading from its first CTA. Several kernels may be open at once.
  [[nodiscard]] virtual std::unique_ptr<CtaFeed> open(std::uint32_t index) const = 0;
};

struct OpenOptions {
  bool strict = false;  // an opcode that is not in the table is an error
};

/// `path`: a folder with kernelslist.g or kernelslist, a list file, or one kernel file; plain, .gz, .xz,
/// .zst; or a compact trace, which keeps name and hash of what it was converted from.
[[nodiscard]] std::unique_ptr<TraceSet> open_trace(const std::string& path, const OpenOptions& options = {});

}  // namespace lockstep::trace
