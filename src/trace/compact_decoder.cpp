#include <cstring>
#include <string>

#include "trace/compact_chunk.hpp"
#include "trace/compact_model.hpp"
#include "trace/shared_offsets.hpp"

namespace lockstep::trace {
namespace {

struct Sequence {
  std::uint32_t first = 0, count = 0;  // in the pool of records
  std::size_t words = 0;
  LaneMask lanes = 0;  // any that is active somewhere, but for bulk copies' (bulk_runs.hpp)
  std::size_t placed_in = ~std::size_t{0};  // the CTA that has the records last, and where
  std::uint32_t placed_at = 0;
};

[[noreturn]] void broken(const std::string& message) { throw BrokenBlock(message); }

}  // namespace

class ChunkDecoder::Impl {
 public:
  void decode(const ChunkContext& context, const StaticTable& table, std::span<const std::uint8_t> bytes,
              std::span<CtaTrace* const> out);

 private:
  ByteReader& column(Column c) { return columns_[static_cast<std::size_t>(c)]; }
  ByteReader& plane(unsigned byte) { return columns_[static_cast<std::size_t>(Column::kPlane0) + byte]; }
  void split(std::span<const std::uint8_t> bytes);
  void cta_ids(const ChunkContext& context, std::span<CtaTrace* const> out);
  void cta(std::size_t c, const KernelHeader& header);
  void new_sequence();
  Record record(std::uint32_t& previous, RecentMasks& recent);
  LaneMask subset(LaneMask of);
  void check(const StaticInst& inst, AddressForm form, LaneMask mask) const;
  void words(std::size_t c, std::size_t index, const Sequence& s);
  [[nodiscard]] const std::uint64_t* reference(std::size_t c, std::size_t index, unsigned ctas_back,
                                               unsigned warps_back) const;
  void predict(std::size_t c, std::size_t index, std::size_t count, WordMode mode);
  void lanes(const Sequence& s, std::vector<std::uint64_t>& out);
  void lane_record(const Record& record, std::vector<std::uint64_t>& out);
  void lane_addresses(unsigned code, LaneHistory& history, LaneMask mask, Address* lanes);
  void explicit_lanes(const LaneHistory& history, LaneMask mask, Address* lanes);
  void raw_words(unsigned count, std::vector<std::uint64_t>& out);

  std::array<ByteReader, kColumns> columns_;
  const StaticTable* table_ = nullptr;
  std::span<CtaTrace* const> ctas_;
  std::vector<std::vector<std::uint64_t>> plain_;  // words of each CTA as they are in the file
  std::vector<std::uint32_t> first_word_;          // of each warp, in its CTA's plain_
  OffsetSharing sharing_;
  std::size_t per_cta_ = 0;
  std::vector<std::uint32_t> used_;  // sequence of each warp, CTA after CTA
  std::vector<Sequence> sequences_;
  std::vector<Record> pool_;
  Successors successors_;
  LaneModel model_;
};

ChunkDecoder::ChunkDecoder() : impl_(std::make_unique<Impl>()) {}
ChunkDecoder::~ChunkDecoder() = default;
void ChunkDecoder::decode(const ChunkContext& context, const StaticTable& table,
                          std::span<const std::uint8_t> bytes, std::span<CtaTrace* const> out) {
  impl_->decode(context, table, bytes, out);
}

void ChunkDecoder::Impl::split(std::span<const std::uint8_t> bytes) {
  ByteReader all(bytes);
  std::array<std::size_t, kColumns> sizes;
  for (std::size_t& size : sizes) size = static_cast<std::size_t>(all.varint());
  for (std::size_t i = 0; i < kColumns; ++i) columns_[i] = ByteReader(all.take(sizes[i]));
  all.expect_end("the chunk");
}

void ChunkDecoder::Impl::decode(const ChunkContext& context, const StaticTable& table,
                                std::span<const std::uint8_t> bytes, std::span<CtaTrace* const> out) {
  split(bytes);
  table_ = &table;
  ctas_ = out;
  per_cta_ = context.header.warps_per_cta();
  used_.clear();
  first_word_.clear();
  if (plain_.size() < out.size()) plain_.resize(out.size());
  sequences_.clear();
  pool_.clear();
  successors_.reset();
  model_.reset();
  cta_ids(context, out);
  std::size_t decoded = 0;
  for (std::size_t c = 0; c < out.size(); ++c) {
    if (decoded >= kChunkBytes) broken("the chunk has more thread blocks than fit into one");
    cta(c, context.header);
    decoded += counted_bytes(per_cta_, record_count(*out[c]), plain_[c].size());
    sharing_.share(plain_[c], *out[c]);
  }
  for (const ByteReader& c : columns_) c.expect_end("a column");
}

void ChunkDecoder::Impl::cta_ids(const ChunkContext& context, std::span<CtaTrace* const> out) {
  const Dim3& grid = context.header.grid;
  const bool in_order = column(Column::kHead).number(1, "the order of thread blocks") == 0;
  for (std::size_t c = 0; c < out.size(); ++c) {
    const std::uint64_t index = context.first_cta + c;
    const std::uint64_t position = in_order ? index : index + column(Column::kHead).difference();
    if (position >= grid.count()) broken("a thread block lies outside the grid");
    out[c]->index = index;
    out[c]->id = {static_cast<std::uint32_t>(position % grid.x),
                  static_cast<std::uint32_t>(position / grid.x % grid.y),
                  static_cast<std::uint32_t>(position / grid.x / grid.y)};
  }
}

/// Warps with the same sequence share its records.
void ChunkDecoder::Impl::cta(std::size_t c, const KernelHeader& header) {
  CtaTrace& out = *ctas_[c];
  out.warps.assign(per_cta_, WarpSpan{});
  out.records.clear();
  std::vector<std::uint64_t>& plain = plain_[c];
  plain.clear();
  std::size_t counted = 0;
  for (std::size_t i = 0; i < per_cta_; ++i) {
    const std::uint64_t code = column(Column::kHead).number(sequences_.size(), "a warp's sequence");
    if (code == 0) new_sequence();
    const auto number = static_cast<std::uint32_t>(code == 0 ? sequences_.size() - 1 : code - 1);
    used_.push_back(number);
    Sequence& s = sequences_[number];
    const std::uint64_t threads = header.threads_per_cta() - i * kWarpSize;
    const LaneMask live = threads >= kWarpSize ? ~LaneMask{0} : (LaneMask{1} << threads) - 1;
    if ((s.lanes & ~live) != 0) broken("an active mask has lanes without a thread");
    if (s.placed_in != c) {
      s.placed_in = c;
      s.placed_at = static_cast<std::uint32_t>(out.records.size());
      out.records.insert(out.records.end(), pool_.begin() + s.first, pool_.begin() + s.first + s.count);
    }
    counted += s.count;
    if (counted_bytes(per_cta_, counted, plain.size() + s.words) > kMaxCtaBytes)
      broken("a thread block is too large");
    first_word_.push_back(static_cast<std::uint32_t>(plain.size()));
    out.warps[i] = {s.placed_at, s.count, first_word_.back()};
    if (s.words > 0) words(c, i, s);
  }
}

void ChunkDecoder::Impl::new_sequence() {
  Sequence s;
  s.first = static_cast<std::uint32_t>(pool_.size());
  s.count = static_cast<std::uint32_t>(
      column(Column::kLength).number(column(Column::kToken).left(), "the length of a sequence"));
  RecentMasks recent;
  std::uint32_t previous = 0;
  for (std::uint32_t i = 0; i < s.count; ++i) {
    const Record r = record(previous, recent);
    s.words += address_words(r.form(), r.mask);
    if ((*table_)[r.inst()].bulk == BulkCopy::kNone) s.lanes |= r.mask;
    pool_.push_back(r);
  }
  if (counted_bytes(0, s.count, s.words) > kMaxCtaBytes) broken("a warp is too large");
  sequences_.push_back(s);
}

Record ChunkDecoder::Impl::record(std::uint32_t& previous, RecentMasks& recent) {
  const unsigned token = column(Column::kToken).byte();
  if (token >= kTokenEnd) broken("a record's token is " + std::to_string(token));
  std::uint32_t& next = successors_.after(previous);
  if ((token & kTokenInst) != 0) {
    const std::uint64_t inst = next + column(Column::kInst).difference();
    if (inst >= table_->size()) broken("a record names an instruction that the table does not have");
    next = static_cast<std::uint32_t>(inst);
  }
  if (next >= table_->size()) broken("a record names an instruction that the table does not have");
  previous = next + 1;
  const unsigned code = token & kMaskBits;
  LaneMask mask = 0;
  if (code < kRecentMasks) {
    mask = recent.use(code);
  } else {
    mask =
        code == kMaskSubset ? subset(recent.latest()) : static_cast<LaneMask>(column(Column::kMask).fixed(4));
    recent.add(mask);
  }
  const auto form = static_cast<AddressForm>(token >> kFormShift & 3);
  check((*table_)[previous - 1], form, mask);
  return Record::make(previous - 1, form, mask);
}

LaneMask ChunkDecoder::Impl::subset(LaneMask of) {
  const auto lanes = static_cast<unsigned>(std::popcount(of));
  const std::uint64_t bits = column(Column::kMask).fixed((lanes + 7) / 8);
  if (bits >> lanes != 0) broken("a mask has too many bits");
  LaneMask mask = 0;
  for (unsigned i = 0; of != 0; of &= of - 1, ++i) {
    if ((bits >> i & 1) != 0) mask |= of & -of;
  }
  return mask;
}

/// Addresses are there for all active lanes of the instructions that have them, and only then.
void ChunkDecoder::Impl::check(const StaticInst& inst, AddressForm form, LaneMask mask) const {
  if ((form != AddressForm::kNone) != (inst.has_addresses && mask != 0))
    broken("a record has addresses where there should be none, or the reverse");
}

const std::uint64_t* ChunkDecoder::Impl::reference(std::size_t c, std::size_t index, unsigned ctas_back,
                                                   unsigned warps_back) const {
  if (ctas_back > c || warps_back > index) broken("a prediction refers to a warp before the chunk");
  c -= ctas_back;
  index -= warps_back;
  if (used_[c * per_cta_ + index] != used_.back())
    broken("a prediction refers to a warp with other instructions");
  return plain_[c].data() + first_word_[c * per_cta_ + index];
}

void ChunkDecoder::Impl::words(std::size_t c, std::size_t index, const Sequence& s) {
  const std::uint8_t mode = column(Column::kMode).byte();
  if (mode >= static_cast<std::uint8_t>(WordMode::kCount)) broken("a warp's mode is " + std::to_string(mode));
  if (static_cast<WordMode>(mode) == WordMode::kLanes) {
    lanes(s, plain_[c]);
  } else {
    predict(c, index, s.words, static_cast<WordMode>(mode));
  }
}

void ChunkDecoder::Impl::predict(std::size_t c, std::size_t index, std::size_t count, WordMode mode) {
  std::vector<std::uint64_t>& all = plain_[c];
  all.resize(all.size() + count);  // before references into the same CTA are taken
  const auto at = [&](unsigned ctas_back, unsigned warps_back) {
    return reference(c, index, ctas_back, warps_back);
  };
  const std::uint64_t *p = nullptr, *q = nullptr, *r = nullptr;
  if (mode == WordMode::kSameCta) p = q = r = at(0, 1);
  if (mode == WordMode::kLineCta) p = q = at(0, 1), r = at(0, 2);
  if (mode == WordMode::kPrevious) p = q = r = at(1, 0);
  if (mode == WordMode::kLine) p = q = at(1, 0), r = at(2, 0);
  if (mode == WordMode::kPlane) p = at(0, 1), q = at(1, 0), r = at(1, 1);
  std::uint64_t* const out = all.data() + all.size() - count;
  for (std::size_t i = 0; i < count; ++i) out[i] = p[i] + q[i] - r[i];
  std::uint64_t at_word = 0;
  for (std::uint64_t n = column(Column::kExceptions).number(count, "the number of exceptions"); n > 0; --n) {
    at_word += column(Column::kGap).number(count, "the distance of exceptions");
    if (at_word >= count) broken("an exception lies behind the warp's words");
    out[at_word++] += column(Column::kResidual).difference();
  }
}

void ChunkDecoder::Impl::lanes(const Sequence& s, std::vector<std::uint64_t>& out) {
  model_.start_warp();
  for (std::uint32_t i = 0; i < s.count; ++i) {
    const Record& r = pool_[s.first + i];
    if (r.form() != AddressForm::kNone) lane_record(r, out);
  }
}

void ChunkDecoder::Impl::lane_record(const Record& record, std::vector<std::uint64_t>& out) {
  Address lanes[kWarpSize];
  const unsigned code = column(Column::kCode).byte();
  const std::uint32_t index = model_.index_of(record.inst());
  LaneHistory& history = model_[index];
  const std::size_t at = out.size();
  const bool affine = record.form() == AddressForm::kAffine;
  if (code >= kLaneCodes || affine != (code == kLaneAffine))
    broken("the code of lane addresses is " + std::to_string(code));
  if (affine) {
    history.step += column(Column::kStep).difference();
    out.push_back(LaneModel::base_prediction(history, record.mask) + history.step);
    out.push_back(history.stride + column(Column::kStep).difference());
    lanes[std::countr_zero(record.mask)] = out[at];
  } else if (code == kLaneRaw) {
    raw_words(address_words(record.form(), record.mask), out);
    expand_addresses(record.form(), record.mask, out.data() + at, lanes);
  } else {
    lane_addresses(code, history, record.mask, lanes);
    store_words(record.form(), record.mask, lanes, out);
  }
  model_.update(index, record.form(), record.mask, lanes, out.data() + at);
}

void ChunkDecoder::Impl::raw_words(unsigned count, std::vector<std::uint64_t>& out) {
  for (; count > 0; --count) {
    std::uint64_t word = 0;
    for (unsigned b = 0; b < 8; ++b) word |= std::uint64_t{plane(b).byte()} << (8 * b);
    out.push_back(word);
  }
}

void ChunkDecoder::Impl::lane_addresses(unsigned code, LaneHistory& history, LaneMask mask, Address* lanes) {
  if (code == kLaneExplicit) return explicit_lanes(history, mask, lanes);
  const LaneHistory* from = &history;
  unsigned scale = 0;
  std::uint64_t* offset = &history.step;
  if (code != kLaneStep) {
    const unsigned cross = code - kLaneCross;
    from = model_.reference(cross / kScales);
    if (from == nullptr) broken("lane addresses refer to a record before the warp");
    scale = cross % kScales;
    offset = &history.offset[cross];
  }
  *offset += column(Column::kStep).difference();
  for (; mask != 0; mask &= mask - 1) {
    const auto l = static_cast<std::size_t>(std::countr_zero(mask));
    lanes[l] = scaled(from->lane[l], scale) + *offset;
  }
}

void ChunkDecoder::Impl::explicit_lanes(const LaneHistory& history, LaneMask mask, Address* lanes) {
  const unsigned width = column(Column::kWidth).byte();
  if (width > 8) broken("lane differences of " + std::to_string(width) + " bytes");
  const auto count = static_cast<std::size_t>(std::popcount(mask));
  std::uint64_t coded[kWarpSize] = {};
  for (unsigned b = 0; b < width; ++b) {
    const auto bytes = plane(b).take(count);
    for (std::size_t i = 0; i < count; ++i) coded[i] |= std::uint64_t{bytes[i]} << (8 * b);
  }
  Address address = LaneModel::base_prediction(history, mask);
  for (std::size_t i = 0; mask != 0; mask &= mask - 1, ++i) {
    address += unzigzag(coded[i]);
    lanes[std::countr_zero(mask)] = address;
  }
}

}  // namespace lockstep::trace
