#include "core/bulk_copies.hpp"

#include <algorithm>

#include "util/bits.hpp"

namespace lockstep::core {
namespace {

icnt::AccessKind access_of(trace::BulkCopy kind) {
  return kind == trace::BulkCopy::kStore       ? icnt::AccessKind::kStore
         : kind == trace::BulkCopy::kReduction ? icnt::AccessKind::kReduction
         : kind == trace::BulkCopy::kPrefetch  ? icnt::AccessKind::kPrefetch
                                               : icnt::AccessKind::kLoad;
}

/// The request for bytes [begin, end) of one line.
icnt::Request request_for(Address begin, Address end) {
  constexpr std::uint32_t kWordBytes = 4;
  icnt::Request request;
  request.line = line_of(begin);
  for (Address sector = begin / kSectorBytes; sector <= (end - 1) / kSectorBytes; ++sector) {
    const Address base = sector * kSectorBytes;
    const Address from = std::max(begin, base) - base, to = std::min(end, base + kSectorBytes) - base;
    const auto place = static_cast<unsigned>(sector % kSectorsPerLine);
    request.sectors = static_cast<SectorMask>(request.sectors | 1u << place);
    request.bytes[place] = static_cast<std::uint32_t>(((std::uint64_t{1} << (to - from)) - 1) << from);
  }
  request.operations = static_cast<std::uint8_t>((end - begin + kWordBytes - 1) / kWordBytes);
  return request;
}

}  // namespace

std::uint32_t BulkCopies::free_place() {
  const auto free = std::find_if(copies_.begin(), copies_.end(),
                                 [](const Copy& c) { return c.kind == trace::BulkCopy::kNone; });
  const auto place = static_cast<std::uint32_t>(free - copies_.begin());
  if (free == copies_.end()) copies_.emplace_back();
  return place;
}

bool BulkCopies::add(const MioOperation& op) {
  std::array<Address, kWarpSize> words{};
  trace::expand_addresses(op.form, op.mask, op.words, words.data());
  const std::uint32_t number = free_place();
  Copy& copy = copies_[number];
  copy = {op.handle, 0, op.kernel, op.bulk, true, op.multicast, op.l2, 0, {}};
  trace::each_bulk_run(words.data(), bit_count(op.mask),
                       [&](const trace::BulkRun& run) { copy.run[copy.runs++] = run; });
  if (copy.runs == 0) {
    copy.kind = trace::BulkCopy::kNone;
    return false;
  }
  ++used_;
  queue_[(head_ + queued_++) % queue_.size()] = number;
  return true;
}

/// And goes on to the line after it.
icnt::Request BulkCopies::next_line(const Copy& copy) {
  const trace::BulkRun& run = copy.run[at_.run];
  const Address row = run.first + static_cast<Address>(run.stride) * at_.row, begin = row + at_.byte;
  const Address end = std::min(row + run.bytes, line_of(begin) + kLineBytes);
  at_.byte = static_cast<std::uint32_t>(end - row);
  if (at_.byte == run.bytes) {
    at_.byte = 0;
    if (++at_.row == run.rows) at_ = {at_.run + 1, 0, 0};
  }
  return request_for(begin, end);
}

BulkCopies::Line BulkCopies::next(std::vector<stats::SmCounters>& counters) {
  const std::uint32_t number = queue_[head_];
  Copy& copy = copies_[number];
  icnt::Request request = next_line(copy);
  request.tag = kTag | number;
  request.kind = access_of(copy.kind);
  request.kernel = copy.kernel;
  copy.l2.complete(request);
  const unsigned sectors = bit_count(request.sectors);
  copy.sectors += sectors;
  stats::SmCounters& c = counters[copy.kernel];
  (!trace::writes(copy.kind)              ? c.l1_load_sectors_sent
   : copy.kind == trace::BulkCopy::kStore ? c.l1_store_sectors_sent
                                          : c.l1_atomic_sectors_sent) += sectors;
  if (at_.run == copy.runs) {
    copy.sending = false;
    at_ = {};
    head_ = (head_ + 1) % static_cast<unsigned>(queue_.size());
    --queued_;
  }
  Done done = state(number);
  done.sent = !copy.sending;
  done.l2 = copies_[number].l2;
  return {request, done};
}

BulkCopies::Done BulkCopies::receive(std::uint32_t tag, unsigned sectors) {
  const std::uint32_t number = tag & ~kTag;
  copies_[number].sectors -= sectors;
  return state(number);
}

BulkCopies::Done BulkCopies::state(std::uint32_t number) {
  Copy& copy = copies_[number];
  const Done done{false, !copy.sending && copy.sectors == 0, copy.kind == trace::BulkCopy::kLoad,
                  copy.multicast, copy.handle};
  if (!done.complete) return done;
  copy.kind = trace::BulkCopy::kNone;
  --used_;
  return done;
}

}  // namespace lockstep::core
