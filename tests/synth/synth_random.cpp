// Every kind with random small options: what the trace reader makes of the files is what they say.
#include <fmt/format.h>

#include <array>

#include "tests/random.hpp"
#include "trace/kernel_trace.hpp"
#include "trace_text.hpp"

using namespace lockstep;
using namespace lockstep::synth;

namespace {

using test::Random32;

constexpr std::uintmax_t kLongText = 200'000;  // bytes that take long to read word by word

/// Numbers close to their lowest, so that traces stay small; any word.
Options random_options(const Kind& kind, Random32& random) {
  Options options;
  for (const OptionSpec& o : kind.options) {
    if (random() % 4 == 0 && (!o.choices.empty() || o.high - o.low < 100)) continue;  // its default
    if (o.choices.empty()) {
      const std::uint64_t room = std::min<std::uint64_t>(o.high - o.low, o.name == "threads" ? 70 : 2);
      const bool multiple = o.low > 1 && random() % 3 != 0;
      options[std::string(o.name)] = std::to_string(multiple ? std::min(o.high, o.low * (1 + random() % 2))
                                                             : o.low + random() % (room + 1));
      continue;
    }
    std::vector<std::string> words;
    std::istringstream all{std::string(o.choices)};
    for (std::string word; std::getline(all, word, '|');) words.push_back(word);
    options[std::string(o.name)] = words[random() % words.size()];
  }
  options["compress"] = "none";
  options["arch"] = random() % 2 == 0 ? "70" : "80";
  return options;
}

std::string shown(const Options& options) {
  std::string text;
  for (const auto& [name, value] : options) text += fmt::format("{}={} ", name, value);
  return text;
}

/// The lines of a kernel as both readers see them.
void require_same_warps(trace::CtaFeed& feed, const std::vector<TextWarp>& warps) {
  const std::uint64_t ctas = feed.header().grid.count();
  const std::uint32_t per_cta = feed.header().warps_per_cta();
  REQUIRE(warps.size() == ctas * per_cta);
  for (std::uint64_t c = 0; c < ctas; ++c) {
    feed.decode_now(c + 1);
    trace::CtaTrace* const cta = feed.take(c);
    REQUIRE(cta->warps.size() == per_cta);
    for (std::uint32_t w = 0; w < per_cta; ++w) {
      const TextWarp& text = warps[c * per_cta + w];
      const trace::WarpSpan& span = cta->warps[w];
      REQUIRE(text.warp == w);
      REQUIRE(span.record_count == text.lines.size());
      const std::uint64_t* words = cta->words.data() + span.first_word;
      for (std::uint32_t i = 0; i < span.record_count; ++i) {
        const trace::Record& record = cta->records[span.first_record + i];
        const trace::StaticInst& inst = feed.instructions()[record.inst()];
        const TextLine& line = text.lines[i];
        bool same = inst.pc == line.pc && record.mask == line.mask && inst.known &&
                    line.opcode.starts_with(inst.mnemonic.data());
        std::array<Address, kWarpSize> lanes{};
        trace::expand_addresses(record.form(), record.mask, words, lanes.data());
        words += trace::address_words(record.form(), record.mask);
        for (unsigned lane = 0, n = 0; lane < kWarpSize && line.width != 0; ++lane)
          if (line.mask >> lane & 1) same = same && lanes[lane] == line.addresses[n++];
        if (!same) FAIL("CTA " << c << ", warp " << w << ", instruction " << i);
      }
    }
    feed.release(cta);
  }
}

/// Warps have their threads alone, and end with an EXIT of all of them.
void require_whole(const trace::KernelHeader& header, const std::vector<TextWarp>& warps) {
  for (const TextWarp& warp : warps) {
    const std::uint64_t threads = header.threads_per_cta() - 32 * warp.warp;
    const std::uint32_t live = threads >= 32 ? ~0u : (1u << threads) - 1;
    std::uint32_t left = live;
    for (const TextLine& line : warp.lines) {
      const auto lanes = static_cast<std::size_t>(std::popcount(line.mask));
      if ((line.mask & ~live) != 0 || (line.width != 0 && line.addresses.size() != lanes)) FAIL(line.pc);
      if (line.opcode == "EXIT") left &= ~line.mask;
    }
    REQUIRE(left == 0);
    REQUIRE(warp.lines.back().opcode == "EXIT");
  }
}

}  // namespace

TEST_CASE("random options of every kind: the trace reader finds what a reader of its text finds") {
  for (const Kind* kind : kinds()) {
    unsigned good = 0;
    for (std::uint32_t seed = 0; seed < 300 && good < 3; ++seed) {
      Random32 random(seed);
      const Options options = random_options(*kind, random);
      INFO(kind->name << " " << shown(options));
      const TemporaryFolder folder;
      try {
        synthesize(kind->name, options, folder / "t");
      } catch (const UserError& e) {
        REQUIRE(std::string(e.what()).starts_with(fmt::format("synth {}: ", kind->name)));
        continue;
      }
      ++good;
      const auto set = trace::open_trace(folder / "t", {.strict = true});
      REQUIRE_FALSE(set->kernels().empty());
      for (std::uint32_t k = 0; k < set->kernels().size(); ++k) {
        const std::string file = folder / fmt::format("t/kernel-{}.traceg", set->kernels()[k].id);
        if (std::filesystem::file_size(file) > kLongText) continue;
        const auto feed = set->open(k);
        const auto warps = read_warps(file);
        require_same_warps(*feed, warps);
        require_whole(set->kernels()[k], warps);
        CHECK(feed->notes().unknown_opcodes.empty());
      }
      const TemporaryFolder again;
      synthesize(kind->name, options, again / "t");
      CHECK(trace::open_trace(again / "t")->content_hash() == set->content_hash());
    }
    INFO(kind->name);
    CHECK(good >= 3);
  }
}

TEST_CASE("random options of every kind: older tracers and compressed files hold the same instructions") {
  for (const Kind* kind : kinds()) {
    unsigned good = 0;
    for (std::uint32_t seed = 100; seed < 400 && good < 2; ++seed) {
      Random32 random(seed);
      Options options = random_options(*kind, random);
      INFO(kind->name << " " << shown(options));
      const TemporaryFolder plain, packed;
      try {
        synthesize(kind->name, options, plain / "t");
      } catch (const UserError&) {
        continue;
      }
      ++good;
      options["compress"] = good % 2 == 0 ? "gz" : "zst";
      options["tracer-version"] = std::to_string(3 + seed % 3);
      synthesize(kind->name, options, packed / "t");
      const auto a = trace::open_trace(plain / "t"), b = trace::open_trace(packed / "t");
      REQUIRE(a->kernels().size() == b->kernels().size());
      for (std::uint32_t k = 0; k < a->kernels().size(); ++k) {
        const auto x = a->open(k), y = b->open(k);
        const std::uint64_t ctas = x->header().grid.count();
        x->decode_now(ctas);
        y->decode_now(ctas);
        REQUIRE(x->instructions().size() == y->instructions().size());
        for (std::uint64_t c = 0; c < ctas; ++c) {
          const trace::CtaTrace *p = x->take(c), *q = y->take(c);
          REQUIRE((p->records == q->records && p->words == q->words));
        }
      }
    }
    CHECK(good == 2);
  }
}
