// Lane offsets kept once a CTA: nothing is lost, and what repeats is there once.
#include "trace/shared_offsets.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "trace/kernel_trace.hpp"

using namespace lockstep;
using namespace lockstep::trace;

namespace {

/// Addresses of every lane of every record, warp after warp.
std::vector<Address> all_addresses(const CtaTrace& cta) {
  std::vector<Address> out;
  for (const WarpSpan& warp : cta.warps) {
    const std::uint64_t* words = cta.words.data() + warp.first_word;
    for (std::uint32_t i = 0; i < warp.record_count; ++i) {
      const Record& record = cta.records[warp.first_record + i];
      std::array<Address, kWarpSize> lanes{};
      expand_addresses(record.form(), record.mask, words, lanes.data());
      out.insert(out.end(), lanes.begin(), lanes.end());
      words += address_words(record.form(), record.mask);
    }
  }
  return out;
}

/// Warps of random records, some of them with the records of the warp before; few patterns of offsets.
CtaTrace random_cta(std::mt19937& random, std::vector<std::uint64_t>& plain) {
  CtaTrace cta;
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (unsigned w = 0; w < 8; ++w) {
    const bool same = w > 0 && below(2) == 0;
    WarpSpan span{static_cast<std::uint32_t>(cta.records.size()), 0,
                  static_cast<std::uint32_t>(plain.size())};
    if (same) span = {cta.warps.back().first_record, cta.warps.back().record_count, span.first_word};
    const std::uint32_t count = same ? span.record_count : static_cast<std::uint32_t>(below(60));
    for (std::uint32_t i = 0; i < count; ++i) {
      const LaneMask mask = same            ? cta.records[span.first_record + i].mask
                            : below(2) == 0 ? ~LaneMask{0}
                                            : static_cast<LaneMask>(random());
      const AddressForm wanted =
          same ? cta.records[span.first_record + i].form() : static_cast<AddressForm>(below(4));
      if (!same) cta.records.push_back(Record::make(i, mask ? wanted : AddressForm::kNone, mask));
      const unsigned words = address_words(cta.records[span.first_record + i].form(), mask);
      const std::uint64_t pattern = below(5);
      for (unsigned k = 0; k < words; ++k)
        plain.push_back(k == 0 ? random() : (pattern + 1) * (k + 7) * 0x100000001);
    }
    span.record_count = count;
    cta.warps.push_back(span);
  }
  return cta;
}

}  // namespace

TEST_CASE("sharing offsets loses nothing") {
  std::mt19937 random(7);
  OffsetSharing sharing;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> plain;
    CtaTrace cta = random_cta(random, plain);
    CtaTrace original = cta;
    original.words = plain;
    sharing.share(plain, cta);
    REQUIRE(all_addresses(cta) == all_addresses(original));
    CtaTrace back;
    copy_plain(cta, back);
    REQUIRE(back.words == plain);
    REQUIRE(back.records == original.records);
    REQUIRE(all_addresses(back) == all_addresses(original));
  }
}

TEST_CASE("offsets that repeat are there once") {
  constexpr unsigned kWarps = 8, kLoads = 100;
  std::vector<std::uint64_t> plain;
  CtaTrace cta;
  for (unsigned i = 0; i < kLoads; ++i)
    cta.records.push_back(Record::make(0, AddressForm::kDelta, ~LaneMask{0}));
  for (unsigned w = 0; w < kWarps; ++w) {
    cta.warps.push_back({0, kLoads, static_cast<std::uint32_t>(plain.size())});
    for (unsigned i = 0; i < kLoads; ++i) {
      plain.push_back(1000 * w + i);
      for (unsigned k = 0; k < 16; ++k) plain.push_back(i % 2 + k * k);
    }
  }
  OffsetSharing().share(plain, cta);
  CHECK(cta.words.size() == 2 * 16 + kWarps * kLoads * 2);  // two patterns; base and place of each record
}
