// A kernel in the form that the executor runs: flat operations with resolved operands.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exec/alu_fragment.hpp"
#include "exec/alu_warpgroup.hpp"
#include "exec/lane_op.hpp"
#include "exec/multimem.hpp"
#include "exec/slow_path.hpp"
#include "exec/tensor_map.hpp"
#include "exec/texture.hpp"
#include "ptx/ir.hpp"
#include "util/types.hpp"

namespace lockstep::exec {

/// Where an operand's LaneValues lie.
enum class Home : std::uint8_t {
  kRegister,  // of the current call frame
  kFixed,     // of the warp: special registers
  kConstant,  // of the executable: immediates and addresses
  kNone,      // the sink `_`
};

struct OperandRef {
  std::uint32_t code = 0;
  static OperandRef make(Home home, std::uint32_t index) {
    return {static_cast<std::uint32_t>(home) << 30 | index};
  }
  static OperandRef none() { return make(Home::kNone, 0); }
  [[nodiscard]] Home home() const { return static_cast<Home>(code >> 30); }
  [[nodiscard]] std::uint32_t index() const { return code & 0x3fffffffu; }
  [[nodiscard]] bool exists() const { return home() != Home::kNone; }
};

enum class Handler : std::uint8_t {
  kLane,      // a lane kernel
  kLaneSync,  // a lane kernel for the lanes of a member mask
  kLoad,
  kStore,
  kAtomic,  // atom and red
  kBranch,
  kBranchTable,  // brx.idx
  kCall,
  kReturn,
  kExit,
  kTrap,
  kBarrier,      // bar.sync, bar.red, bar.arrive of the CTA
  kWarpBarrier,  // bar.warp.sync
  kClusterArrive,
  kClusterWait,
  kWarpgroupCommit,
  kWarpgroupWait,
  kNanosleep,
  kNothing,    // fences, hints: no effect on values
  kCopyAsync,  // cp.async
  kCopyBulk,   // cp.async.bulk
  kMbarrier,
  kMatrixMove,  // ldmatrix, stmatrix, wmma.load, wmma.store
  kWarpgroup,   // wgmma.mma_async
  kTensorCopy,  // cp.async.bulk.tensor, cp.reduce.async.bulk.tensor
  kTensorMap,   // tensormap.replace, tensormap.cp_fenceproxy
  kStack,       // alloca, stacksave, stackrestore
  kTexture,     // tex, tld4, suld, sust, sured, txq, suq
  kMultimem,    // multimem.ld_reduce, multimem.st, multimem.red
};

/// Memory spaces, as the executor distinguishes them.
enum class StateSpace : std::uint8_t {
  kGlobal,
  kShared,     // own CTA's, or a cluster's by rank
  kLocal,      // offset in the thread's memory
  kFrame,      // as kLocal, relative to the call frame: .param and .local variables by name
  kParameter,  // the kernel's parameters
  kGeneric,
};

inline constexpr std::uint8_t kBasePlaces = 8, kNoPlace = kBasePlaces;  // the last is of all others

/// The most that one lane's access reaches: .v4.b64 and .v8.b32 ("PTX ISA 9.0", 9.7.9.8 ld).
inline constexpr std::size_t kMaxAccessBytes = 32;

/// One access of each lane: `count` elements of `bytes` bytes from [base + offset].
struct MemoryForm {
  StateSpace state_space = StateSpace::kGeneric;
  std::uint8_t bytes = 4;  // of one element: 1, 2, 4, 8, 16
  std::uint8_t count = 1;
  std::uint8_t extend = 0;  // bits of a signed element that is extended to `width` bits; 0: zero-extended
  std::uint8_t width = 64;  // of the destination register
  bool polls = false;       // volatile, relaxed, acquire, with a fence in a loop: it may be waited on
  bool signals = false;     // a write for which others may wait (signal_log.hpp)
  std::uint8_t place = kNoPlace;  // where the warp keeps this access for those that follow
  bool known = false;             // there is one before it in its block, through the base as it is here
  std::uint32_t spin = 0;         // loads: of Executable::spins() the one it is in, counted from 1; 0: none
  OperandRef base = OperandRef::none();  // none: offset alone
  std::int64_t offset = 0;
};

/// A loop that waits for words of global memory (spin_loops.cpp). Operations [begin, end]; the last leads
/// back to the first.
struct SpinLoop {
  std::uint32_t load = 0;  // the first of its polling loads
  std::uint32_t begin = 0, end = 0;
  std::vector<std::uint32_t> loads;  // polling loads of a round, in its order; MemoryForms of the first and
                                     // the last name the loop
  // A load before the loop, of the same word, behind which there are only operations that compute and lead
  // into the loop or past it: a compiler's copy of the first round. Its MemoryForm names the loop, too.
  std::uint32_t entry = kNoEntry;
  std::vector<OperandRef> written;  // what a round, or the way from the entry, may write

  static constexpr std::uint32_t kNoEntry = ~0u;
};

using AtomicFn = std::uint64_t (*)(std::uint64_t old, std::uint64_t operand, std::uint64_t second);

struct AtomicForm {
  AtomicFn fn = nullptr, global = nullptr;  // nullptr: 128-bit exch or cas; `global`: on global memory
  bool compare = false;                     // cas: the first operand is compared, the second stored
  bool returns = false;
  bool commutes = false;         // an integer operation, valid in any order, whose return value is unused
  std::uint32_t mbarrier = ~0u;  // red.async: whose bytes it completes, as a MemoryForm
  bool takes = false;            // counts (add, inc, dec), and the number is used
};

/// multimem.ld_reduce, multimem.st, multimem.red; the place is a MemoryForm.
struct MultimemForm {
  enum class Kind : std::uint8_t { kLoadReduce, kStore, kReduce } kind = Kind::kStore;
  MultimemReduction reduction;
};

struct BarrierForm {
  enum class Kind : std::uint8_t { kSync, kArrive, kAnd, kOr, kPopc } kind = Kind::kSync;
  OperandRef barrier = OperandRef::none(), threads = OperandRef::none(), predicate = OperandRef::none();
  bool negated = false;
  bool counted = false;  // its record says who arrives and for how many it waits: it names a number of
                         // threads, or a register has its own
};

/// mbarrier.*; the barrier's place is a MemoryForm.
struct MbarrierForm {
  enum class Kind : std::uint8_t {
    kInit,
    kInval,
    kArrive,
    kExpect,
    kComplete,
    kTest,
    kPending,
    kCopied  // cp.async.mbarrier.arrive: its copies are complete, so that the counts stay what they are
  } kind = Kind::kInit;
  bool drop = false;                      // arrive_drop
  bool expects = false;                   // arrive.expect_tx: `value` is the number of bytes
  bool suspends = false;                  // try_wait: for a time
  bool parity = false;                    // test_wait.parity: `value` is a parity, otherwise a state
  OperandRef value = OperandRef::none();  // count, bytes, state or parity
};

/// cp.async and cp.async.bulk: places are MemoryForms. What is asynchronous on hardware is done at once; a
/// prefetch only gives a record.
struct CopyForm {
  static constexpr unsigned kUnitBytes = 16;       // what bulk copies move at once
  std::uint32_t to = 0, from = 0, mbarrier = ~0u;  // mbarrier: whose bytes it completes
  std::uint32_t bytes = 0;                         // cp.async; 0: `size` says
  OperandRef size = OperandRef::none();            // bytes to read: the rest of cp.async's are zeros
  OperandRef ignore = OperandRef::none();          // cp.async's predicate to write zeros
  OperandRef multicast = OperandRef::none();       // mask of the cluster's CTAs
  bool multimem = false;                           // to a multicast address
  bool prefetch = false;                           // prefetch, cp.async.bulk.prefetch: only `from` and `size`
  AtomicFn reduction = nullptr;                    // cp.reduce.async.bulk, on elements of `element` bytes
  std::uint8_t element = 0;
};

/// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor: sources are the coordinates, then a filter's offsets.
struct TensorForm {
  std::uint32_t map = 0, shared = 0, mbarrier = ~0u;  // MemoryForms
  std::uint8_t rank = 0, offsets = 0;
  bool store = false, reduces = false, im2col = false;
  bool prefetch = false;  // to no place in shared memory
  ptx::ShortList<ptx::Mod, 2> reduction;
  OperandRef multicast = OperandRef::none();  // mask of the cluster's CTAs
  /// The function for elements of a type; nullptr if there is none.
  [[nodiscard]] AtomicFn function(ptx::Type type) const;
};

/// tensormap.replace of a field, or a copy of the whole object.
struct TensorMapForm {
  std::uint32_t object = 0, from = 0;  // MemoryForms
  bool copies = false;
  TensorField field = TensorField::kAddress;
  std::uint8_t number = 0;  // dimension
  std::uint8_t value_bytes = 8;
  OperandRef value = OperandRef::none();
};

inline constexpr std::uint32_t kMatrixBytes = 1024;  // of wmma's largest: 32 x 8 numbers of f32

/// ldmatrix, stmatrix, wmma.load, wmma.store: which place of the matrix each lane's register parts hold.
struct MatrixForm {
  static constexpr unsigned kRows = 8, kRowBytes = 16;  // of an 8x8 matrix of 16-bit elements
  bool store = false;
  std::uint8_t matrices = 1;  // ldmatrix, stmatrix: .x1 .x2 .x4
  bool transposed = false;
  Fragment fragment;  // wmma: 0 registers in the others
  // wmma. A line of the matrix is a row, or with .col a column: neighbours in memory.
  std::uint16_t lines = 0;
  std::uint32_t line_bytes = 0;  // a power of two
  std::uint8_t pieces = 1;       // of a register, lowest bits first: its neighbours in a line
  // At [(r * pieces + i) * kLanes + l], for piece i of register r of lane l: bytes from the start of the
  // matrix, whose rows are contiguous.
  std::vector<std::uint16_t> places;
  OperandRef stride =
      OperandRef::none();  // elements from row to row (column to column); none: as many as a row has
};

/// Operation::detail of kStack.
enum class StackAction : std::uint32_t { kAllocate, kSave, kRestore };

/// wgmma.mma_async. OperandRefs of the operation: registers of the result, then the first matrix.
struct WarpgroupForm {
  WarpgroupProduct product;
  std::uint8_t results = 0;                 // registers
  bool a_in_registers = false;              // four of them, otherwise one with a descriptor
  bool a_across = false, b_across = false;  // elements of one k are neighbours in shared memory
  OperandRef b = OperandRef::none();        // descriptor
  OperandRef metadata = OperandRef::none();
  OperandRef accumulates = OperandRef::none();  // predicate; none: yes
  bool accumulates_negated = false;
};

/// tex, tld4, suld, sust, sured, txq, suq. Sources: the handle, coordinates, then what follows.
struct TextureForm {
  enum class Kind : std::uint8_t {
    kFetch,
    kLevel,
    kGradient,
    kGather,
    kLoad,
    kStore,
    kReduce,
    kQuery
  } kind = Kind::kFetch;
  Geometry geometry = Geometry::k2D;
  bool layered = false;
  bool integer = false;      // .s32 coordinates
  std::uint8_t channel = 0;  // tld4
  std::uint8_t bytes = 4;    // surfaces: of one element
  std::uint8_t elements = 1;
  enum class Outside : std::uint8_t { kTrap, kClamp, kZero } outside = Outside::kTrap;
  AtomicFn fn = nullptr;  // sured
  enum class Query : std::uint8_t {
    kWidth,
    kHeight,
    kDepth,
    kLayers,
    kLevels,
    kNormalized,
    kChannelType,
    kChannelOrder,
    kFilter,
    kAddress0,
    kAddress1,
    kAddress2,
    kMemoryLayout,
    kIsTexture,
    kIsSurface,
    kIsSampler
  } query = Query::kWidth;
  bool of_level = false;  // a query of the level that the second source names
  bool surface = false;   // a query of a surface
  /// Coordinates that the instruction uses, the layer not counted.
  [[nodiscard]] unsigned coordinates() const {
    return geometry == Geometry::k1D ? 1 : geometry == Geometry::k2D ? 2 : 3;
  }
};

/// One argument or result of a call: a .param variable of the caller, or a register or immediate.
struct CallValue {
  bool in_frame = false;
  std::uint32_t offset = 0;  // in the caller's frame
  OperandRef operand = OperandRef::none();
  std::uint32_t bytes = 0;
};

/// Functions that the device's runtime provides, by name.
enum class Runtime : std::uint8_t {
  kNone,
  kVprintf,
  kAssertfail,
  kMalloc,
  kFree,
  kSetConditional,
  kParameterBuffer,
  kLaunchDevice,
  kMemcpyAsync,
  kMemsetAsync,
  kTakeError,
  kPeekError,
  kErrorText,
  kErrorName,
  kDeviceMalloc,
  kDeviceFree,
  kCreateHandle,
  kGetDevice,
  kDeviceCount,
  kVersion,
  kOrders,  // functions of streams and events that only order
};

struct CallSite {
  std::uint32_t function = ~0u;  // index into Executable::functions(); ~0: indirect, target is a register
  OperandRef target = OperandRef::none();
  Runtime runtime = Runtime::kNone;
  std::vector<CallValue> arguments, results;
};

struct BranchTargets {
  std::vector<std::uint32_t> targets;  // operations
};

/// Where the lanes of a divided warp meet again: an operation, or one of these.
inline constexpr std::uint32_t kAtReturn = ~0u;  // where the function returns
inline constexpr std::uint32_t kNowhere = ~0u - 1;

/// One PTX instruction. Operands are Executable::operands()[operands ...]: destinations, then sources.
struct Operation {
  Handler handler = Handler::kNothing;
  bool guard_negated = false;
  bool reads_clock = false;  // a special register that changes: to be brought up to date before
  bool paces = false;        // reads_clock: only to decide how long a loop that waits pauses
  bool clears = false;       // FunctionCode::clears has rows for it
  std::uint8_t destinations = 0, sources = 0;
  OperandRef guard = OperandRef::none();
  std::uint32_t operands = 0;
  std::uint32_t detail = 0;  // index into the table of the handler, or a number of its own
  std::uint32_t second = 0;  // the same, where the handler needs two
  std::uint32_t target = 0;  // branches: operation
  std::uint32_t meet = kNowhere;
  LaneFn fn = nullptr;
  SlowPathFn slow_path = nullptr;
  std::uint64_t immediate = 0;
};

struct ParameterPlace {
  bool in_register = false;
  std::uint32_t row = 0;     // register of the callee
  std::uint32_t offset = 0;  // in the callee's frame
  std::uint32_t bytes = 0;
};

/// Rows that become 0 before an operation, for the lanes of the split that comes to it.
struct RowClear {
  std::uint32_t operation = 0;
  std::vector<std::uint32_t> rows;
};

/// A function of the executable. Its operations are [first, first + size).
struct FunctionCode {
  const ptx::Function* source = nullptr;
  std::uint32_t first = 0, size = 0;
  std::uint32_t rows = 0;         // LaneValues of a frame
  std::uint32_t frame_bytes = 0;  // of local memory: .local and .param variables, parameters, results
  std::vector<ParameterPlace> parameters, results;
  // Rows that may be read before they are written: those that become 0 where the frame begins, and others.
  std::vector<std::uint32_t> cleared;
  std::vector<RowClear> clears;                                    // by operation, ascending
  std::vector<std::pair<std::uint32_t, std::uint32_t>> addresses;  // rows that hold frame + offset
};

/// A special register that the kernel reads, and its fixed row.
struct FixedRegister {
  ptx::Special special{};
  std::uint32_t index = 0;
};

}  // namespace lockstep::exec
