#include "cli/info_scan.hpp"

#include <algorithm>
#include <bit>

#include "trace/address_windows.hpp"
#include "trace/bulk_runs.hpp"

namespace lockstep::cli {
namespace {

using trace::MemSpace;
using trace::OpClass;

constexpr std::uint64_t kCtasAtOnce = 64;

constexpr std::string_view kClassNames[] = {
    "alu",        "fp32",      "imad",        "imad_wide",     "fp16",    "fp64",        "sfu",
    "convert",    "bitcount",  "tensor",      "warpgroup_mma", "uniform", "special_reg", "vote",
    "shuffle",    "branch",    "convergence", "exit",          "barrier", "membar",      "depbar",
    "sleep",      "nop",       "const_load",  "load",          "store",   "atomic",      "reduction",
    "async_copy", "bulk_copy", "mbarrier",    "texture",       "surface"};
static_assert(std::size(kClassNames) == kClasses);
constexpr std::string_view kSpaceNames[] = {"global", "shared", "local"};
static_assert(std::size(kSpaceNames) == kInfoSpaces);

/// The space of a memory instruction; generic ones by their first address. kCount: none that is counted here.
InfoSpace space_of(const trace::StaticInst& inst, const trace::KernelHeader& header, Address first) {
  switch (inst.space) {
    case MemSpace::kGlobal:
      return InfoSpace::kGlobal;
    case MemSpace::kShared:
      return InfoSpace::kShared;
    case MemSpace::kLocal:
      return InfoSpace::kLocal;
    case MemSpace::kGeneric:
      if (trace::in_shared_window(first, header)) return InfoSpace::kShared;
      return trace::in_local_window(first, header) ? InfoSpace::kLocal : InfoSpace::kGlobal;
    default:
      return InfoSpace::kCount;
  }
}

Counts* counter_of(SpaceUse& use, OpClass c) {
  switch (c) {
    case OpClass::kLoad:
    case OpClass::kAsyncCopy:
      return &use.loads;
    case OpClass::kStore:
      return &use.stores;
    case OpClass::kAtomic:
    case OpClass::kReduction:
      return &use.atomics;
    default:
      return nullptr;
  }
}

class Scanner {
 public:
  Scanner(KernelInfo& info, const trace::StaticTable& table) : info_(info), table_(table) {}

  void scan(const trace::CtaTrace& cta) {
    per_inst_.resize(table_.size());
    for (const trace::WarpSpan& warp : cta.warps) {
      const std::uint64_t* words = cta.words.data() + warp.first_word;
      for (std::uint32_t i = 0; i < warp.record_count; ++i) {
        const trace::Record& record = cta.records[warp.first_record + i];
        count(record, words);
        words += trace::address_words(record.form(), record.mask);
      }
    }
  }

  /// Spreads the counts by static instruction over classes, opcodes and lines of the source.
  void finish(const trace::CtaFeed& feed) {
    for (std::uint32_t i = 0; i < per_inst_.size(); ++i) {
      const trace::StaticInst& inst = table_[i];
      info_.total += per_inst_[i];
      info_.by_class[static_cast<std::size_t>(inst.op_class)] += per_inst_[i];
      if (per_inst_[i].warp == 0) continue;
      const trace::TracedInstruction traced = feed.traced(i);
      if (traced.source_line != 0)
        info_.by_line[{std::string(traced.source_file), traced.source_line}] += per_inst_[i];
      info_.by_opcode[inst.mnemonic.data()] += per_inst_[i];
      info_.opcodes_by_class[static_cast<std::size_t>(inst.op_class)][inst.mnemonic.data()] +=
          per_inst_[i].warp;
      // A warpgroup's work stands in the records of its four warps.
      const std::uint64_t share = inst.op_class == OpClass::kWarpgroupMma ? 4 : 1;
      info_.tensor_macs += per_inst_[i].warp * inst.macs / share;
    }
    info_.static_instructions = table_.size();
  }

 private:
  void count(const trace::Record& record, const std::uint64_t* words) {
    const trace::StaticInst& inst = table_[record.inst()];
    const bool bulk = inst.bulk != trace::BulkCopy::kNone;  // one lane's; the mask is that of its words
    const auto lanes = static_cast<std::uint64_t>(bulk ? 1 : std::popcount(record.mask));
    per_inst_[record.inst()] += {1, lanes};
    if (!inst.has_addresses || lanes == 0 || record.form() == trace::AddressForm::kNone) return;
    if (inst.signal == trace::SignalOp::kAwaits) return;  // its words are no addresses
    Address addresses[kWarpSize] = {};
    trace::expand_addresses(record.form(), record.mask, words, addresses);
    if (bulk) return count_bulk(inst.bulk, addresses, static_cast<unsigned>(std::popcount(record.mask)));
    const InfoSpace space = space_of(inst, info_.header, addresses[std::countr_zero(record.mask)]);
    if (space == InfoSpace::kCount) return;
    SpaceUse& use = info_.spaces[static_cast<std::size_t>(space)];
    Counts* counter = counter_of(use, inst.op_class);
    if (counter == nullptr) return;
    *counter += {1, lanes};
    use.bytes_moved += lanes * inst.access_bytes;
    for (LaneMask rest = record.mask; rest != 0; rest &= rest - 1)
      use.footprint.add(addresses[std::countr_zero(rest)], std::max<std::uint32_t>(inst.access_bytes, 1));
  }

  void count_bulk(trace::BulkCopy kind, const std::uint64_t* words, unsigned size) {
    if (kind == trace::BulkCopy::kBetween) {
      SpaceUse& shared = info_.spaces[static_cast<std::size_t>(InfoSpace::kShared)];
      shared.stores += {1, 1};
      shared.bytes_moved += words[1] >> 32;
      return;
    }
    SpaceUse& use = info_.spaces[static_cast<std::size_t>(InfoSpace::kGlobal)];
    (!trace::writes(kind) ? use.loads : kind == trace::BulkCopy::kStore ? use.stores : use.atomics) += {1, 1};
    trace::each_bulk_run(words, size, [&](const trace::BulkRun& run) {
      use.bytes_moved += std::uint64_t{run.rows} * run.bytes;
      for (std::uint32_t row = 0; row < run.rows; ++row)
        use.footprint.add(run.first + static_cast<Address>(run.stride) * row, run.bytes);
    });
  }

  KernelInfo& info_;
  const trace::StaticTable& table_;
  std::vector<Counts> per_inst_;
};

void decode(trace::CtaFeed& feed, std::uint64_t end, [[maybe_unused]] unsigned threads) {
  feed.want(end);
  const auto tasks = static_cast<std::int64_t>(feed.plan());
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(threads))
#endif
  for (std::int64_t i = 0; i < tasks; ++i) feed.run(static_cast<std::size_t>(i));
  feed.settle();
}

}  // namespace

std::string_view class_name(OpClass c) { return kClassNames[static_cast<std::size_t>(c)]; }
std::string_view space_name(InfoSpace s) { return kSpaceNames[static_cast<std::size_t>(s)]; }

void Footprint::add(Address address, std::uint32_t bytes) {
  const std::uint64_t last = address + bytes - 1;
  std::uint64_t sector = address / kSectorBytes;
  const std::uint64_t end = last < address ? sector : last / kSectorBytes;  // no wrap round the address space
  for (; sector <= end; ++sector) mark(sector / 64, std::uint64_t{1} << sector % 64);
}

void Footprint::mark(std::uint64_t block, std::uint64_t sectors) {
  if (2 * (used_ + 1) > table_.size()) grow();
  const std::size_t mask = table_.size() - 1;
  std::size_t at = (block * 0x9e3779b97f4a7c15 >> 20) & mask;
  while (table_[at].sectors != 0 && table_[at].number != block) at = (at + 1) & mask;
  if (table_[at].sectors == 0) {
    table_[at].number = block;
    ++used_;
  }
  table_[at].sectors |= sectors;
}

void Footprint::grow() {
  std::vector<Block> old = std::move(table_);
  table_.assign(std::max<std::size_t>(64, 2 * old.size()), {});
  used_ = 0;
  for (const Block& b : old)
    if (b.sectors != 0) mark(b.number, b.sectors);
}

void Footprint::merge(const Footprint& other) {
  for (const Block& b : other.table_)
    if (b.sectors != 0) mark(b.number, b.sectors);
}

std::uint64_t Footprint::sectors() const {
  std::uint64_t sum = 0;
  for (const Block& b : table_) sum += static_cast<std::uint64_t>(std::popcount(b.sectors));
  return sum;
}

std::uint64_t Footprint::lines() const {
  std::uint64_t sum = 0;
  for (const Block& b : table_) {
    const std::uint64_t pairs = b.sectors | b.sectors >> 1;
    const std::uint64_t quads = (pairs | pairs >> 2) & 0x1111111111111111;
    sum += static_cast<std::uint64_t>(std::popcount(quads));
  }
  return sum;
}

void SpaceUse::merge(const SpaceUse& other) {
  loads += other.loads;
  stores += other.stores;
  atomics += other.atomics;
  bytes_moved += other.bytes_moved;
  footprint.merge(other.footprint);
}

void SpaceUse::seal() {
  lines = footprint.lines();
  sectors = footprint.sectors();
  footprint = {};
}

void KernelInfo::merge(const KernelInfo& other) {
  total += other.total;
  for (std::size_t i = 0; i < kClasses; ++i) by_class[i] += other.by_class[i];
  for (const auto& [name, counts] : other.by_opcode) by_opcode[name] += counts;
  for (std::size_t i = 0; i < kClasses; ++i)
    for (const auto& [name, count] : other.opcodes_by_class[i]) opcodes_by_class[i][name] += count;
  for (std::size_t i = 0; i < kInfoSpaces; ++i) spaces[i].merge(other.spaces[i]);
  tensor_macs += other.tensor_macs;
  static_instructions += other.static_instructions;
  for (const auto& [line, counts] : other.by_line) by_line[line] += counts;
  for (const auto& [name, count] : other.unknown) unknown[name] += count;
  for (const std::string& remark : other.remarks) {
    const auto at = std::lower_bound(remarks.begin(), remarks.end(), remark);
    if (at == remarks.end() || *at != remark) remarks.insert(at, remark);
  }
}

KernelInfo scan_kernel(const trace::TraceSet& trace, std::uint32_t kernel, unsigned threads) {
  KernelInfo info;
  const auto feed = trace.open(kernel);
  info.header = feed->header();
  const std::uint64_t ctas = info.header.grid.count();
  Scanner scanner(info, feed->instructions());
  for (std::uint64_t next = 0; next < ctas;) {
    const std::uint64_t end = std::min(ctas, next + kCtasAtOnce);
    decode(*feed, end, threads);
    for (; next < end; ++next) {
      trace::CtaTrace* cta = feed->take(next);
      scanner.scan(*cta);
      feed->release(cta);
    }
  }
  scanner.finish(*feed);
  for (const auto& [name, count] : feed->notes().unknown_opcodes) info.unknown[name] += count;
  info.remarks = feed->notes().remarks;
  return info;
}

}  // namespace lockstep::cli
