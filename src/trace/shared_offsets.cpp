#include "trace/shared_offsets.hpp"

#include <algorithm>
#include <bit>

namespace lockstep::trace {
namespace {

bool worth_sharing(const Record& record) {
  return record.form() == AddressForm::kDelta && address_words(AddressForm::kDelta, record.mask) > 2;
}

}  // namespace

void OffsetSharing::share(const std::vector<std::uint64_t>& plain, CtaTrace& cta) {
  known_.fill({});
  offsets_.clear();
  words_.clear();
  places_.clear();
  for (WarpSpan& warp : cta.warps) {
    const std::uint64_t* words = plain.data() + warp.first_word;
    warp.first_word = static_cast<std::uint32_t>(words_.size());
    for (std::uint32_t i = 0; i < warp.record_count; ++i) {
      const Record& record = cta.records[warp.first_record + i];
      if (record.form() == AddressForm::kNone) continue;
      const unsigned count = address_words(record.form(), record.mask);
      if (worth_sharing(record)) {
        words_.push_back(words[0]);
        places_.push_back(static_cast<std::uint32_t>(words_.size()));
        words_.push_back(place_of(words + 1, count - 1));
      } else {
        words_.insert(words_.end(), words, words + count);
      }
      words += count;
    }
  }
  for (Record& record : cta.records)
    if (worth_sharing(record)) record = Record::make(record.inst(), AddressForm::kShared, record.mask);

  const std::uint64_t shift = offsets_.size();
  for (const std::uint32_t place : places_) words_[place] = shift + (place - 1) - words_[place];
  for (WarpSpan& warp : cta.warps) warp.first_word += static_cast<std::uint32_t>(shift);
  cta.words.clear();
  cta.words.reserve(offsets_.size() + words_.size());
  cta.words.insert(cta.words.end(), offsets_.begin(), offsets_.end());
  cta.words.insert(cta.words.end(), words_.begin(), words_.end());
}

std::uint64_t OffsetSharing::place_of(const std::uint64_t* offsets, unsigned count) {
  std::uint64_t mix = count;
  for (unsigned i = 0; i < count; ++i) mix += offsets[i] * (2 * i + 1);
  Pattern& pattern = known_[mix * 0x9e3779b97f4a7c15 >> 54];
  if (pattern.count != count || !std::equal(offsets, offsets + count, offsets_.begin() + pattern.place)) {
    pattern = {static_cast<std::uint32_t>(offsets_.size()), count};
    offsets_.insert(offsets_.end(), offsets, offsets + count);
  }
  return pattern.place;
}

void copy_plain(const CtaTrace& cta, CtaTrace& out) {
  out.index = cta.index;
  out.id = cta.id;
  out.warps = cta.warps;
  out.records = cta.records;
  out.words.clear();
  for (WarpSpan& warp : out.warps) {
    const std::uint64_t* words = cta.words.data() + warp.first_word;
    warp.first_word = static_cast<std::uint32_t>(out.words.size());
    for (std::uint32_t i = 0; i < warp.record_count; ++i) {
      const Record& record = cta.records[warp.first_record + i];
      const unsigned count = address_words(record.form(), record.mask);
      if (record.form() == AddressForm::kShared) {
        const std::uint64_t* offsets = shared_offsets(words);
        out.words.push_back(words[0]);
        out.words.insert(out.words.end(), offsets,
                         offsets + address_words(AddressForm::kDelta, record.mask) - 1);
      } else {
        out.words.insert(out.words.end(), words, words + count);
      }
      words += count;
    }
  }
  for (Record& record : out.records)
    if (record.form() == AddressForm::kShared)
      record = Record::make(record.inst(), AddressForm::kDelta, record.mask);
}

}  // namespace lockstep::trace
