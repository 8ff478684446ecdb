// Reading a compact trace takes a bounded amount of memory, and uses it again.
#include <set>

#include "compact_support.hpp"
#include "paths.hpp"
#include "trace/traced_instruction.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;

namespace {

constexpr unsigned kLargeWarps = 16, kSharedLoads = 500, kOtherRecords = 1500;

/// CTAs of 16 warps that share 2000 records; 125 KiB of address words each.
class LargeFeed final : public CtaFeed {
 public:
  explicit LargeFeed(const KernelHeader& header) : header_(header) {
    for (const std::uint32_t i : {0u, 1u}) table_.push(decode_traced(traced(i), header.binary_version));
    for (unsigned i = 0; i < kSharedLoads; ++i) {
      cta_.records.push_back(Record::make(0, AddressForm::kAffine, ~LaneMask{0}));
      for (unsigned k = 0; k < kOtherRecords / kSharedLoads; ++k)
        cta_.records.push_back(Record::make(1, AddressForm::kNone, ~LaneMask{0}));
    }
    for (std::uint32_t w = 0; w < kLargeWarps; ++w)
      cta_.warps.push_back({0, kSharedLoads + kOtherRecords, w * 2 * kSharedLoads});
  }
  [[nodiscard]] const KernelHeader& header() const override { return header_; }
  [[nodiscard]] const StaticTable& instructions() const override { return table_; }
  [[nodiscard]] TracedInstruction traced(std::uint32_t i) const override {
    return {16 * i, i == 0 ? "1 R4 LDG.E 1 R8 4" : "1 R2 MOV 0 0", 0};
  }
  void want(std::uint64_t) override {}
  [[nodiscard]] std::size_t plan() override { return 0; }
  void run(std::size_t) noexcept override {}
  void settle() override {}
  [[nodiscard]] CtaTrace* take(std::uint64_t index) override {
    cta_.index = index;
    cta_.id = {static_cast<std::uint32_t>(index), 0, 0};
    cta_.words.clear();
    for (std::uint64_t w = 0; w < kLargeWarps; ++w) {
      for (std::uint64_t i = 0; i < kSharedLoads; ++i) {
        cta_.words.push_back((index << 20) + (w << 7) + (i << 12));
        cta_.words.push_back(4);
      }
    }
    return &cta_;
  }
  void release(CtaTrace*) noexcept override {}
  [[nodiscard]] const TraceNotes& notes() const override { return notes_; }

 private:
  KernelHeader header_;
  StaticTable table_;
  CtaTrace cta_;
  TraceNotes notes_;
};

class LargeSet final : public TraceSet {
 public:
  explicit LargeSet(std::uint32_t ctas) {
    kernels_[0].binary_version = 70;
    kernels_[0].grid = {ctas, 1, 1};
    kernels_[0].block = {32 * kLargeWarps, 1, 1};
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t content_hash() const override { return 1; }
  [[nodiscard]] const std::vector<Command>& commands() const override { return commands_; }
  [[nodiscard]] const std::vector<KernelHeader>& kernels() const override { return kernels_; }
  [[nodiscard]] std::unique_ptr<CtaFeed> open(std::uint32_t) const override {
    return std::make_unique<LargeFeed>(kernels_[0]);
  }

 private:
  std::string name_ = "large";
  std::vector<Command> commands_{{}};
  std::vector<KernelHeader> kernels_{1};
};

}  // namespace

TEST_CASE("A compact trace is read with little memory, which is used again") {
  constexpr std::uint32_t kCtas = 400;  // 50 MB of words
  const TemporaryFolder dir;
  const std::string out = dir / "t.lst";
  const LargeSet large(kCtas);
  const ConvertProgress done = write_compact(large, out);
  CHECK(done.warp_instructions == std::uint64_t{kCtas} * kLargeWarps * (kSharedLoads + kOtherRecords));
  CHECK(done.bytes < 200'000);  // 12.8 M warp instructions
  const auto feed = open_trace(out)->open(0);
  LargeFeed expected(large.kernels()[0]);
  std::set<const CtaTrace*> objects;
  std::vector<CtaTrace*> held;
  for (std::uint64_t i = 0; i < kCtas; ++i) {
    feed->decode_now(i + 1);
    held.push_back(feed->take(i));
    objects.insert(held.back());
    if (i % 50 == 0) CHECK((warps_of(*held.back()) == warps_of(*expected.take(i))));
    if (held.size() < 4) continue;
    feed->release(held.front());
    held.erase(held.begin());
  }
  // 8 MiB of read-ahead are 60 such CTAs; then those held and a chunk.
  CHECK(objects.size() < 80);
}

TEST_CASE("A chunk's content does not depend on whether its warps share records in memory") {
  const TemporaryFolder dir;
  const std::string first = dir / "a.lst", second = dir / "b.lst";
  write_compact(*open_trace(LOCKSTEP_SOURCE_DIR "/traces/sgemm"), first);
  write_compact(*open_trace(first), second);
  CHECK((slurp(first) == slurp(second)));
}
