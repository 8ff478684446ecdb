// Every kind in every dialect: readable by the trace reader, the same instructions and addresses, the counts
// that follow from the kind's loops.
#include <bit>
#include <functional>
#include <vector>

#include "support.hpp"
#include "synth/synth.hpp"
#include "trace/kernel_trace.hpp"

using namespace lockstep;
using namespace lockstep::synth;

namespace {

/// All that a kernel's records say, independent of how the text wrote it.
struct Contents {
  std::uint64_t warp = 0, thread = 0, hash = 0xcbf29ce484222325;
  void mix(std::uint64_t v) { hash = (hash ^ v) * 0x100000001b3; }
};

Contents read(const trace::TraceSet& set, std::uint32_t kernel) {
  Contents out;
  const auto feed = set.open(kernel);
  const std::uint64_t ctas = feed->header().grid.count();
  for (std::uint64_t i = 0; i < ctas; ++i) {
    feed->decode_now(i + 1);
    trace::CtaTrace* cta = feed->take(i);
    for (const trace::WarpSpan& warp : cta->warps) {
      const std::uint64_t* words = cta->words.data() + warp.first_word;
      for (std::uint32_t r = 0; r < warp.record_count; ++r) {
        const trace::Record record = cta->records[warp.first_record + r];
        ++out.warp;
        out.thread += static_cast<std::uint64_t>(std::popcount(record.mask));
        out.mix(feed->instructions()[record.inst()].pc);
        out.mix(static_cast<std::uint64_t>(feed->instructions()[record.inst()].op_class));
        out.mix(record.mask);
        if (record.form() == trace::AddressForm::kNone) continue;
        Address addresses[kWarpSize];
        trace::expand_addresses(record.form(), record.mask, words, addresses);
        words += trace::address_words(record.form(), record.mask);
        for (LaneMask m = record.mask; m != 0; m &= m - 1) out.mix(addresses[std::countr_zero(m)]);
      }
    }
    feed->release(cta);
  }
  CHECK(feed->notes().unknown_opcodes.empty());
  CHECK(feed->notes().remarks.empty());
  return out;
}

struct Example {
  std::string kind;
  Options options;
  std::vector<std::uint64_t> warp_instructions;  // of each kernel
  std::size_t copies;
};

/// Counts from the loops of each kind: a prologue of 6, then as commented.
const std::vector<Example> kExamples = {
    {"streaming", {{"ctas", "3"}, {"threads", "100"}}, {3 * 4 * 15}, 2},
    // 24 moves; a step: 2 + 5 + 1 + 16 * (2 + 16) + 5; 4 stores and the exit. 938 for 3 steps, as published.
    {"sgemm", {{"tiles-x", "2"}, {"tiles-y", "1"}, {"ktiles", "3"}}, {2 * 8 * 938}, 2},
    {"sgemm",
     {{"tiles-x", "1"}, {"tiles-y", "1"}, {"ktiles", "3"}, {"launches", "2"}},
     {8 * 938, 8 * 938},
     2},
    {"random", {{"ctas", "2"}, {"threads", "48"}, {"loads", "5"}}, {2 * 2 * (6 + 1 + 5 * 4 + 2)}, 0},
    {"chain", {{"ctas", "2"}, {"iterations", "7"}}, {2 * (6 + 7 * 109 + 1)}, 1},
    // 29 instructions per warp, a named barrier for all and one more for warps 0 and 1.
    {"mixed", {{"ctas", "2"}}, {2 * (4 * 30 + 2), 2 * (3 * 30 + 2), 2 * (4 * 30 + 2)}, 1},
    // Microbenchmarks: passes of a body and a branch, and the exit.
    {"pipe", {{"op", "HMMA.16816.F32"}, {"instructions", "12"}, {"threads", "64"}}, {2 * (2 * 13 + 1)}, 0},
    {"operands", {{"repeats", "3"}, {"passes", "3"}}, {3 * (3 * 5 + 1) + 1}, 0},
    {"code", {{"bytes", "1024"}, {"ctas", "2"}}, {2 * (3 * 64 + 1)}, 0},
    {"shared", {{"stride", "3"}, {"width", "64"}, {"threads", "80"}}, {3 * (2 * 65 + 1)}, 0},
    {"barriers", {{"instructions", "5"}, {"threads", "128"}}, {4 * (2 * 6 + 1)}, 0},
    {"atomics", {{"addresses", "7"}, {"threads", "40"}, {"instructions", "4"}}, {2 * (2 * 5 + 1)}, 1},
    {"empty", {{"ctas", "9"}, {"threads", "96"}}, {9 * 3 * 2}, 0},
    // As traced on the H100: 6 before the loop, 132 in it, 2 after it: 1328 for 10 iterations.
    {"ffma", {}, {1328}, 0},
    // Memory microbenchmarks. 32 warps warm with 6 + 1 + 1, of which two load; 32 loads and 3 a turn of the
    // chase, of two warps.
    {"pointer_chase",
     {{"warm", "64"}, {"threads", "33"}, {"first", "32"}, {"second", "40"}},
     {32 * 8 + 2 * 2, 2 * (6 + 1 + 35 + 2), 2 * (6 + 1 + 2 * 35 + 2)},
     0},
    // Four warps; each warms with two lines, then loads and adds in batches of 32 and 3 more.
    {"cache_read",
     {{"ctas", "2"}, {"threads", "64"}, {"warm", "512"}, {"first", "4"}, {"second", "40"}},
     {4 * (6 + 2 * 2 + 1), 4 * (8 + 2 * 4 + 3), 4 * (8 + 2 * 40 + 2 * 3)},
     0},
    // A row is two loads and a product; the CTAs that begin a counted kernel read one and three of the four
    // rows.
    {"l2_read",
     {{"pieces", "2"}, {"rows", "4"}, {"resident", "2"}, {"warm", "1"}, {"first", "2"}, {"second", "3"}},
     {32 * (10 + 12), 32 * (10 + 3 + 10 + 9), 32 * (10 + 3 + 10 + 9 + 10 + 12)},
     0},
    {"stream",
     {{"threads", "64"}, {"most", "128"}, {"step", "64"}, {"resident", "2"}, {"waves", "1"}, {"bytes", "1"}},
     {2 * 2 * 17, 6 * 2 * 17, 2 * 4 * 17, 6 * 4 * 17},
     0},
};

std::vector<Contents> contents(const std::string& folder, const Example& example) {
  const auto set = trace::open_trace(folder);
  REQUIRE(set->kernels().size() == example.warp_instructions.size());
  CHECK(set->commands().size() == example.warp_instructions.size() + example.copies);
  std::vector<Contents> out;
  for (std::uint32_t k = 0; k < set->kernels().size(); ++k) out.push_back(read(*set, k));
  return out;
}

}  // namespace

TEST_CASE("all kinds, tracer versions and compressions say the same") {
  for (const Example& example : kExamples) {
    std::vector<Contents> first;
    for (const char* version : {"5", "4", "3", "2", "1"})
      for (const char* compress : {"none", "gz", "xz", "zst"}) {
        INFO(example.kind << " version " << version << " " << compress);
        TemporaryFolder folder;
        Options options = example.options;
        options.emplace("tracer-version", version);
        options.emplace("compress", compress);
        if (version[0] >= '4') options.emplace("line-info", compress[0] == 'n' ? "0" : "1");
        // Before version 5 the trace does not say which barrier is meant; the records are the same.
        synthesize(example.kind, options, folder / "t");
        const auto now = contents(folder / "t", example);
        if (first.empty()) first = now;
        for (std::size_t k = 0; k < now.size(); ++k) {
          CHECK(now[k].warp == example.warp_instructions[k]);
          CHECK(now[k].thread == first[k].thread);
          CHECK(now[k].hash == first[k].hash);
        }
      }
  }
}

TEST_CASE("headers say what was asked for") {
  TemporaryFolder folder;
  synthesize("streaming", {{"ctas", "3"}, {"threads", "100"}, {"arch", "61"}}, folder / "t");
  const auto set = trace::open_trace(folder / "t");
  const trace::KernelHeader& h = set->kernels().at(0);
  CHECK(h.grid == Dim3{3, 1, 1});
  CHECK(h.block == Dim3{100, 1, 1});
  CHECK(h.binary_version == 61);
  CHECK(h.tracer_version == 5);
  CHECK(set->commands().at(0).bytes == 3 * 100 * 4);
  // 100 threads are three warps and four lanes; 14 of the 15 instructions have active lanes.
  CHECK(read(*set, 0).thread == 3 * 100 * 14);
  // Instructions are 8 bytes apart before sm_70.
  const auto feed = set->open(0);
  feed->decode_now(1);
  CHECK(feed->instructions()[1].pc == 8);
}

TEST_CASE("the addresses of streaming are those of three arrays without overlap") {
  TemporaryFolder folder;
  synthesize("streaming", {{"ctas", "2"}, {"threads", "64"}}, folder / "t");
  const auto set = trace::open_trace(folder / "t");
  const auto feed = set->open(0);
  std::map<Address, unsigned> loads, stores;
  for (std::uint64_t i = 0; i < 2; ++i) {
    feed->decode_now(i + 1);
    trace::CtaTrace* cta = feed->take(i);
    for (const trace::WarpSpan& warp : cta->warps) {
      const std::uint64_t* words = cta->words.data() + warp.first_word;
      for (std::uint32_t r = 0; r < warp.record_count; ++r) {
        const trace::Record record = cta->records[warp.first_record + r];
        if (record.form() == trace::AddressForm::kNone) continue;
        const trace::StaticInst& inst = feed->instructions()[record.inst()];
        Address addresses[kWarpSize];
        trace::expand_addresses(record.form(), record.mask, words, addresses);
        words += trace::address_words(record.form(), record.mask);
        for (const Address a : addresses) ++(inst.op_class == trace::OpClass::kLoad ? loads : stores)[a];
      }
    }
    feed->release(cta);
  }
  CHECK(loads.size() == 2 * 128);
  CHECK(stores.size() == 128);
  for (const auto& [address, count] : loads) {
    CHECK(count == 1);
    CHECK(stores.count(address) == 0);
  }
}
