#include <cstring>
#include <map>
#include <stdexcept>

#include "trace/compact_chunk.hpp"
#include "trace/compact_model.hpp"
#include "trace/text_scan.hpp"

namespace lockstep::trace {
namespace {

/// A warp of a chunk that was encoded before.
struct Warp {
  std::uint32_t sequence = 0, record_count = 0, word_count = 0;
  const Record* records = nullptr;
  const std::uint64_t* words = nullptr;
};

struct Prediction {
  const Warp *p = nullptr, *q = nullptr, *r = nullptr;
};

/// Words of `w` that `by` does not predict; some number above `most` where there are more than that.
std::uint32_t count_wrong(const Warp& w, const Prediction& by, std::uint32_t most) {
  constexpr std::uint32_t kStep = 64;
  const std::uint64_t *words = w.words, *p = by.p->words, *q = by.q->words, *r = by.r->words;
  std::uint32_t wrong = 0;
  for (std::uint32_t first = 0; first < w.word_count && wrong <= most; first += kStep) {
    const std::uint32_t end = std::min(first + kStep, w.word_count);
    std::uint64_t here = 0;
    for (std::uint32_t i = first; i < end; ++i) here += words[i] != p[i] + q[i] - r[i];
    wrong += static_cast<std::uint32_t>(here);
  }
  return wrong;
}

bool same_records(const Warp& a, const Warp& b) {
  return a.record_count == b.record_count &&
         (a.record_count == 0 || a.records == b.records ||
          std::memcmp(a.records, b.records, a.record_count * sizeof(Record)) == 0);
}

unsigned bytes_needed(std::uint64_t value) {
  return value == 0 ? 0 : (64 - static_cast<unsigned>(std::countl_zero(value)) + 7) / 8;
}

}  // namespace

class ChunkEncoder::Impl {
 public:
  void encode(const ChunkContext& context, std::span<const CtaTrace> ctas, Bytes& out);

 private:
  Bytes& column(Column c) { return columns_[static_cast<std::size_t>(c)]; }
  void put(Column c, std::uint64_t value) { put_varint(column(c), value); }
  void reset(const ChunkContext& context, std::size_t ctas);
  void cta_ids(const ChunkContext& context, std::span<const CtaTrace> ctas);
  void warp(Warp& w, std::size_t cta, std::size_t index);
  std::uint32_t sequence(const Warp& w);
  std::uint32_t find_sequence(const Warp& w);
  void records(const Warp& w);
  void mask(LaneMask mask, RecentMasks& recent, unsigned& token);
  [[nodiscard]] Prediction prediction(WordMode mode, std::size_t cta, std::size_t index) const;
  struct Choice {
    WordMode mode = WordMode::kLanes;
    std::uint32_t wrong = 0;  // words that it does not predict
  };
  Choice choose(const Warp& w, std::size_t cta, std::size_t index);
  void exceptions(const Warp& w, const Prediction& by, std::uint32_t count);
  void lanes(const Warp& w);
  void lane_record(const Record& record, const std::uint64_t* words, unsigned count);
  bool try_step(LaneHistory& history, LaneMask mask, const Address* lanes, bool only_exact);
  bool try_cross(LaneHistory& history, std::uint32_t index, LaneMask mask, const Address* lanes,
                 bool only_exact);
  void explicit_lanes(LaneHistory& history, LaneMask mask, const Address* lanes);

  std::array<Bytes, kColumns> columns_;
  std::vector<Warp> warps_;  // CTA after CTA
  std::size_t per_cta_ = 0;
  std::vector<Warp> sequences_;
  std::uint32_t latest_ = 0;  // sequence
  WordMode usual_ = WordMode::kLanes;
  std::map<std::uint64_t, std::vector<std::uint32_t>> by_hash_;
  Successors successors_;
  LaneModel model_;
  std::vector<std::uint64_t> check_;
};

ChunkEncoder::ChunkEncoder() : impl_(std::make_unique<Impl>()) {}
ChunkEncoder::~ChunkEncoder() = default;
void ChunkEncoder::encode(const ChunkContext& context, std::span<const CtaTrace> ctas, Bytes& out) {
  impl_->encode(context, ctas, out);
}

void ChunkEncoder::Impl::reset(const ChunkContext& context, std::size_t ctas) {
  for (Bytes& c : columns_) c.clear();
  per_cta_ = context.header.warps_per_cta();
  warps_.assign(ctas * per_cta_, Warp{});
  sequences_.clear();
  by_hash_.clear();
  successors_.reset();
  model_.reset();
}

void ChunkEncoder::Impl::encode(const ChunkContext& context, std::span<const CtaTrace> ctas, Bytes& out) {
  reset(context, ctas.size());
  cta_ids(context, ctas);
  for (std::size_t c = 0; c < ctas.size(); ++c) {
    for (std::size_t i = 0; i < per_cta_; ++i) {
      const WarpSpan& span = ctas[c].warps[i];
      Warp& w = warps_[c * per_cta_ + i];
      w.record_count = span.record_count;
      w.records = ctas[c].records.data() + span.first_record;
      w.words = ctas[c].words.data() + span.first_word;
      warp(w, c, i);
    }
  }
  out.clear();
  for (const Bytes& c : columns_) put_varint(out, c.size());
  for (const Bytes& c : columns_) out.insert(out.end(), c.begin(), c.end());
}

void ChunkEncoder::Impl::cta_ids(const ChunkContext& context, std::span<const CtaTrace> ctas) {
  const Dim3& grid = context.header.grid;
  const auto difference = [&](const CtaTrace& cta) {
    return cta.id.x + std::uint64_t{grid.x} * (cta.id.y + std::uint64_t{grid.y} * cta.id.z) - cta.index;
  };
  const bool in_order =
      std::all_of(ctas.begin(), ctas.end(), [&](const CtaTrace& cta) { return difference(cta) == 0; });
  put(Column::kHead, in_order ? 0 : 1);
  if (in_order) return;
  for (const CtaTrace& cta : ctas) put(Column::kHead, zigzag(difference(cta)));
}

void ChunkEncoder::Impl::warp(Warp& w, std::size_t cta, std::size_t index) {
  w.sequence = sequence(w);
  w.word_count = sequences_[w.sequence].word_count;
  if (w.word_count == 0) return;
  const Choice choice = choose(w, cta, index);
  column(Column::kMode).push_back(static_cast<std::uint8_t>(choice.mode));
  if (choice.mode == WordMode::kLanes) {
    lanes(w);
  } else {
    exceptions(w, prediction(choice.mode, cta, index), choice.wrong);
  }
}

/// Number of the warp's sequence of records, which is written where it is new. Most have that of the one
/// before them.
std::uint32_t ChunkEncoder::Impl::sequence(const Warp& w) {
  if (latest_ < sequences_.size() && same_records(sequences_[latest_], w)) {
    put(Column::kHead, latest_ + 1);
    return latest_;
  }
  return latest_ = find_sequence(w);
}

std::uint32_t ChunkEncoder::Impl::find_sequence(const Warp& w) {
  std::uint64_t hash = w.record_count;
  for (std::uint32_t i = 0; i < w.record_count; ++i)
    hash = mix_hash(hash, std::uint64_t{w.records[i].inst_and_form} << 32 | w.records[i].mask);
  auto& same_hash = by_hash_[hash];
  for (const std::uint32_t s : same_hash) {
    if (same_records(sequences_[s], w)) {
      put(Column::kHead, s + 1);
      return s;
    }
  }
  put(Column::kHead, 0);
  same_hash.push_back(static_cast<std::uint32_t>(sequences_.size()));
  Warp& first = sequences_.emplace_back(w);
  for (std::uint32_t i = 0; i < w.record_count; ++i)
    first.word_count += address_words(w.records[i].form(), w.records[i].mask);
  records(w);
  return same_hash.back();
}

void ChunkEncoder::Impl::records(const Warp& w) {
  put(Column::kLength, w.record_count);
  RecentMasks recent;
  std::uint32_t previous = 0;
  for (std::uint32_t i = 0; i < w.record_count; ++i) {
    const Record& record = w.records[i];
    if (record.form() == AddressForm::kShared)
      throw std::logic_error("a record with shared offsets in a compact trace");
    auto token = static_cast<unsigned>(record.form()) << kFormShift;
    std::uint32_t& next = successors_.after(previous);
    if (record.inst() != next) {
      token |= kTokenInst;
      put(Column::kInst, zigzag(std::uint64_t{record.inst()} - next));
      next = record.inst();
    }
    previous = record.inst() + 1;
    mask(record.mask, recent, token);
    column(Column::kToken).push_back(static_cast<std::uint8_t>(token));
  }
}

/// A subset of the latest mask is written as one bit for each of that mask's lanes.
void ChunkEncoder::Impl::mask(LaneMask mask, RecentMasks& recent, unsigned& token) {
  const unsigned position = recent.find(mask);
  if (position < kRecentMasks) {
    token |= position;
    recent.use(position);
    return;
  }
  LaneMask bits = mask;
  unsigned width = kWarpSize;
  if ((mask & ~recent.latest()) == 0) {
    token |= kMaskSubset;
    bits = 0;
    width = 0;
    for (LaneMask rest = recent.latest(); rest != 0; rest &= rest - 1)
      bits |= (mask >> std::countr_zero(rest) & 1) << width++;
  } else {
    token |= kMaskPlain;
  }
  put_fixed(column(Column::kMask), bits, (width + 7) / 8);
  recent.add(mask);
}

Prediction ChunkEncoder::Impl::prediction(WordMode mode, std::size_t cta, std::size_t index) const {
  const auto at = [&](std::size_t ctas_back, std::size_t warps_back) -> const Warp* {
    if (ctas_back > cta || warps_back > index) return nullptr;
    const Warp& w = warps_[(cta - ctas_back) * per_cta_ + index - warps_back];
    return w.sequence == warps_[cta * per_cta_ + index].sequence ? &w : nullptr;
  };
  switch (mode) {
    case WordMode::kSameCta:
      return {at(0, 1), at(0, 1), at(0, 1)};
    case WordMode::kLineCta:
      return {at(0, 1), at(0, 1), at(0, 2)};
    case WordMode::kPrevious:
      return {at(1, 0), at(1, 0), at(1, 0)};
    case WordMode::kLine:
      return {at(1, 0), at(1, 0), at(2, 0)};
    case WordMode::kPlane:
      return {at(0, 1), at(1, 0), at(1, 1)};
    default:
      return {};
  }
}

/// The mode with the fewest exceptions, the lowest of several. That of the warp before often has none: then
/// the lower ones are only asked whether they have none either, which most deny soon.
ChunkEncoder::Impl::Choice ChunkEncoder::Impl::choose(const Warp& w, std::size_t cta, std::size_t index) {
  Choice best{WordMode::kLanes, w.word_count / 4};  // more exceptions cost more than coding lane by lane
  const auto wrong_by = [&](WordMode mode, std::uint32_t most) {
    const Prediction by = prediction(mode, cta, index);
    const bool there = by.p != nullptr && by.q != nullptr && by.r != nullptr;
    return there ? count_wrong(w, by, most) : ~std::uint32_t{0};
  };
  if (usual_ != WordMode::kLanes && wrong_by(usual_, 0) == 0) best = {usual_, 0};
  const auto end = best.mode == WordMode::kLanes ? WordMode::kCount : best.mode;
  for (unsigned m = 1; m < static_cast<unsigned>(end); ++m) {
    const auto mode = static_cast<WordMode>(m);
    const std::uint32_t wrong = wrong_by(mode, best.wrong);
    if (wrong > best.wrong || (wrong == best.wrong && best.mode != WordMode::kLanes && best.mode < mode))
      continue;
    best = {mode, wrong};
    if (wrong == 0) break;
  }
  usual_ = best.mode;
  return best;
}

void ChunkEncoder::Impl::exceptions(const Warp& w, const Prediction& by, std::uint32_t count) {
  put(Column::kExceptions, count);
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; count > 0; ++i) {
    const std::uint64_t wrong = w.words[i] - (by.p->words[i] + by.q->words[i] - by.r->words[i]);
    if (wrong == 0) continue;
    put(Column::kGap, i - next);
    put(Column::kResidual, zigzag(wrong));
    next = i + 1;
    --count;
  }
}

void ChunkEncoder::Impl::lanes(const Warp& w) {
  model_.start_warp();
  const std::uint64_t* words = w.words;
  for (std::uint32_t i = 0; i < w.record_count; ++i) {
    const unsigned count = address_words(w.records[i].form(), w.records[i].mask);
    if (count > 0) lane_record(w.records[i], words, count);
    words += count;
  }
}

void ChunkEncoder::Impl::lane_record(const Record& record, const std::uint64_t* words, unsigned count) {
  Address lanes[kWarpSize];
  const LaneMask mask = record.mask;
  const std::uint32_t index = model_.index_of(record.inst());
  LaneHistory& history = model_[index];
  if (record.form() == AddressForm::kAffine) {
    lanes[std::countr_zero(mask)] = words[0];  // the words say all the others
    column(Column::kCode).push_back(kLaneAffine);
    const std::uint64_t step = words[0] - LaneModel::base_prediction(history, mask);
    put(Column::kStep, zigzag(step - history.step));
    put(Column::kStep, zigzag(words[1] - history.stride));
    history.step = step;
  } else {
    expand_addresses(record.form(), mask, words, lanes);
    check_.clear();
    store_words(record.form(), mask, lanes, check_);
    if (!std::equal(check_.begin(), check_.end(), words, words + count)) {
      column(Column::kCode).push_back(kLaneRaw);
      for (unsigned i = 0; i < count; ++i)
        for (unsigned b = 0; b < 8; ++b)
          columns_[static_cast<std::size_t>(Column::kPlane0) + b].push_back(
              static_cast<std::uint8_t>(words[i] >> (8 * b)));
    } else if (!try_step(history, mask, lanes, true) && !try_cross(history, index, mask, lanes, true) &&
               !try_step(history, mask, lanes, false) && !try_cross(history, index, mask, lanes, false)) {
      explicit_lanes(history, mask, lanes);
    }
  }
  model_.update(index, record.form(), mask, lanes, words);
}

/// `only_exact`: not unless the step is the last one.
bool ChunkEncoder::Impl::try_step(LaneHistory& history, LaneMask mask, const Address* lanes,
                                  bool only_exact) {
  if ((mask & ~history.seen) != 0) return false;
  const int first = std::countr_zero(mask);
  const std::uint64_t step = lanes[first] - history.lane[static_cast<std::size_t>(first)];
  if (only_exact && step != history.step) return false;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto l = static_cast<std::size_t>(std::countr_zero(rest));
    if (lanes[l] - history.lane[l] != step) return false;
  }
  column(Column::kCode).push_back(kLaneStep);
  put(Column::kStep, zigzag(step - history.step));
  history.step = step;
  return true;
}

bool ChunkEncoder::Impl::try_cross(LaneHistory& history, std::uint32_t index, LaneMask mask,
                                   const Address* lanes, bool only_exact) {
  const int first = std::countr_zero(mask);
  if (!only_exact && (mask & (mask - 1)) == 0) return false;  // one lane follows from any other
  for (unsigned back = 0; back < kCrossRefs; ++back) {
    const LaneHistory* const from = model_.reference(back);
    if (from == nullptr || from == &model_[index] || (mask & ~from->seen) != 0) continue;
    for (unsigned scale = 0; scale < kScales; ++scale) {
      const unsigned code = back * kScales + scale;
      const std::uint64_t offset = lanes[first] - scaled(from->lane[static_cast<std::size_t>(first)], scale);
      bool fits = !only_exact || offset == history.offset[code];
      for (LaneMask rest = mask; rest != 0 && fits; rest &= rest - 1) {
        const auto l = static_cast<std::size_t>(std::countr_zero(rest));
        fits = lanes[l] == scaled(from->lane[l], scale) + offset;
      }
      if (!fits) continue;
      column(Column::kCode).push_back(static_cast<std::uint8_t>(kLaneCross + code));
      put(Column::kStep, zigzag(offset - history.offset[code]));
      history.offset[code] = offset;
      return true;
    }
  }
  return false;
}

void ChunkEncoder::Impl::explicit_lanes(LaneHistory& history, LaneMask mask, const Address* lanes) {
  column(Column::kCode).push_back(kLaneExplicit);
  std::uint64_t coded[kWarpSize];
  unsigned count = 0, width = 0;
  Address before = LaneModel::base_prediction(history, mask);
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const Address address = lanes[std::countr_zero(rest)];
    coded[count] = zigzag(address - before);
    width = std::max(width, bytes_needed(coded[count++]));
    before = address;
  }
  column(Column::kWidth).push_back(static_cast<std::uint8_t>(width));
  for (unsigned b = 0; b < width; ++b)
    for (unsigned i = 0; i < count; ++i)
      columns_[static_cast<std::size_t>(Column::kPlane0) + b].push_back(
          static_cast<std::uint8_t>(coded[i] >> (8 * b)));
}

}  // namespace lockstep::trace
