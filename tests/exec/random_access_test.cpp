// Random loads and stores of every width, vector and space, by name and by generic address, guarded or not,
// against bytes that the test keeps for each thread.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

constexpr unsigned kAccessThreads = 70, kValues = 6, kOwnBytes = 64;
constexpr std::uint64_t kScatter = 0x2545f4914f6cdd1d;  // initial values

enum class Where { kGlobal, kShared, kLocal };

struct Step {
  enum class Kind { kLoad, kStore, kMix } kind = Kind::kMix;
  Where where = Where::kGlobal;
  bool generic = false, is_signed = false;
  unsigned bytes = 4, count = 1, offset = 0;
  std::array<unsigned, 4> values{};  // kValues: the sink
  unsigned constant = 0;
  int guard = -1;  // the bit of value 0 that has to be set
};

class StepMaker {
 public:
  explicit StepMaker(unsigned seed) : random_(seed) {}

  Step step() {
    Step s;
    s.kind = static_cast<Step::Kind>(below(3));
    s.where = static_cast<Where>(below(3));
    s.generic = below(3) == 0;
    s.is_signed = below(2) == 0;
    s.bytes = 1u << below(4);
    const unsigned most = 16 / s.bytes;
    s.count = below(2) == 0 ? 1 : most >= 4 && below(2) == 0 ? 4 : 2;
    s.offset = s.bytes * s.count * below(kOwnBytes / (s.bytes * s.count));
    for (unsigned& v : s.values) v = below(kValues);
    if (s.kind == Step::Kind::kLoad)  // each result once, some to the sink
      for (unsigned e = 0; e < 4; ++e)
        s.values[e] = below(8) == 0 && s.count > 1 ? kValues : (s.values[0] + e) % kValues;
    if (s.kind == Step::Kind::kLoad && s.values[0] == kValues)
      for (unsigned e = 0; e < 4; ++e) s.values[e] = e;
    s.constant = below(1000);
    if (below(3) == 0) s.guard = static_cast<int>(below(40));
    return s;
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  std::mt19937 random_;
};

std::string operand_of(unsigned value) { return value == kValues ? "_" : fmt::format("%v{}", value); }

std::string text_of(const Step& s) {
  std::string text, by;
  if (s.guard >= 0) {
    text = fmt::format("shr.u64 %t, %v0, {}; and.b64 %t, %t, 1; setp.ne.u64 %p, %t, 0;\n", s.guard);
    by = "@%p ";
  }
  if (s.kind == Step::Kind::kMix)
    return text + by +
           fmt::format("mad.lo.u64 %v{}, %v{}, 0x9e3779b97f4a7c15, {};\n", s.values[0], s.values[1],
                       s.constant);
  static const char* const kNames[] = {"global", "shared", "local"};
  const auto where = static_cast<std::size_t>(s.where);
  const bool load = s.kind == Step::Kind::kLoad;
  std::string form = load ? "ld" : "st";
  if (!s.generic) form += fmt::format(".{}", kNames[where]);
  if (s.count > 1) form += fmt::format(".v{}", s.count);
  form += fmt::format(".{}{}", load ? (s.is_signed ? "s" : "u") : "b", 8 * s.bytes);
  std::string data = operand_of(s.values[0]);
  for (unsigned e = 1; e < s.count; ++e) data += ", " + operand_of(s.values[e]);
  if (s.count > 1) data = "{" + data + "}";
  const std::string address = fmt::format("[%{}{}+{}]", s.generic ? 'g' : 'b', where, s.offset);
  return text + by + form + " " + (load ? data + ", " + address : address + ", " + data) + ";\n";
}

/// One thread: its values and its bytes in each space.
struct ThreadBytes {
  std::array<std::uint64_t, kValues> values{};
  std::array<std::array<std::uint8_t, kOwnBytes>, 3> bytes{};

  void run(const Step& s) {
    if (s.guard >= 0 && (values[0] >> s.guard & 1) == 0) return;
    if (s.kind == Step::Kind::kMix) {
      values[s.values[0]] = values[s.values[1]] * 0x9e3779b97f4a7c15 + s.constant;
      return;
    }
    auto& own = bytes[static_cast<std::size_t>(s.where)];
    for (unsigned e = 0; e < s.count; ++e) {
      std::uint8_t* const at = own.data() + s.offset + e * s.bytes;
      if (s.kind == Step::Kind::kStore) {
        for (unsigned b = 0; b < s.bytes; ++b)
          at[b] = static_cast<std::uint8_t>(values[s.values[e]] >> 8 * b);
      } else if (s.values[e] != kValues) {
        std::uint64_t value = 0;
        for (unsigned b = 0; b < s.bytes; ++b) value |= std::uint64_t{at[b]} << 8 * b;
        const unsigned unused = 64 - 8 * s.bytes;
        if (s.is_signed)
          value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
        values[s.values[e]] = value;
      }
    }
  }
};

/// A kernel of these steps, which then stores its values and its bytes of shared and local memory.
std::string kernel_of(const std::vector<Step>& steps) {
  std::string text =
      ".visible .entry k(.param .u64 global, .param .u64 out) {\n.reg .b64 %v<6>, %b<3>, %g<3>, %t, %out;\n"
      ".reg .b32 %r<4>; .reg .pred %p;\n.shared .align 16 .b8 tile[4480];\n.local .align 16 .b8 own[64];\n"
      "ld.param.u64 %b0, [global]; ld.param.u64 %out, [out];\nmov.u32 %r1, %tid.x; mul.wide.u32 %t, %r1, "
      "64;\n"
      "add.u64 %b0, %b0, %t; mov.u64 %b1, tile; add.u64 %b1, %b1, %t; mov.u64 %b2, own;\n"
      "cvta.global.u64 %g0, %b0; cvta.shared.u64 %g1, %b1; cvta.local.u64 %g2, %b2;\n"
      "mul.wide.u32 %t, %r1, 176; add.u64 %out, %out, %t; cvt.u64.u32 %t, %r1;\n";
  for (unsigned at = 0; at < kOwnBytes; at += 8) text += fmt::format("st.shared.u64 [%b1+{}], %t;\n", at);
  for (unsigned at = 0; at < kOwnBytes; at += 8) text += fmt::format("st.local.u64 [%b2+{}], %t;\n", at);
  for (unsigned v = 0; v < kValues; ++v)
    text += fmt::format("mad.lo.u64 %v{}, %t, 0x2545f4914f6cdd1d, {};\n", v, 77 * v);
  for (const Step& s : steps) text += text_of(s);
  for (unsigned v = 0; v < kValues; ++v) text += fmt::format("st.global.u64 [%out+{}], %v{};\n", 8 * v, v);
  for (unsigned at = 0; at < kOwnBytes; at += 8)
    text += fmt::format(
        "ld.shared.u64 %t, [%b1+{0}]; st.global.u64 [%out+{1}], %t;\nld.local.u64 %t, [%b2+{0}]; "
        "st.global.u64 [%out+{2}], %t;\n",
        at, 48 + at, 112 + at);
  return text + "ret;\n}\n";
}

}  // namespace

TEST_CASE("random accesses of every width and space leave the bytes that each thread alone would leave") {
  std::size_t compared = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    StepMaker make(seed);
    std::vector<Step> steps;
    for (int n = 0; n < 40; ++n) steps.push_back(make.step());
    std::vector<ThreadBytes> threads(kAccessThreads);
    std::vector<std::uint8_t> initial(std::size_t{kAccessThreads} * kOwnBytes);
    std::mt19937 random(seed + 1000);
    for (std::uint8_t& byte : initial) byte = static_cast<std::uint8_t>(random());
    for (unsigned t = 0; t < kAccessThreads; ++t) {
      ThreadBytes& thread = threads[t];
      std::memcpy(thread.bytes[0].data(), initial.data() + std::size_t{t} * kOwnBytes, kOwnBytes);
      for (unsigned at = 0; at < kOwnBytes; at += 8)
        thread.bytes[1][at] = thread.bytes[2][at] = static_cast<std::uint8_t>(t);
      for (unsigned v = 0; v < kValues; ++v) thread.values[v] = t * kScatter + 77 * v;
      for (const Step& s : steps) thread.run(s);
    }
    Device device(kernel_of(steps));
    const Address global = device.array(initial),
                  out = device.zeros<std::uint8_t>(std::size_t{kAccessThreads} * 176);
    device.run("k", {1, 1, 1}, {kAccessThreads, 1, 1}, Arguments(global, out));
    const auto bytes = device.read<std::uint8_t>(global, initial.size());
    for (unsigned t = 0; t < kAccessThreads; ++t) {
      CAPTURE(t);
      const ThreadBytes& thread = threads[t];
      REQUIRE(std::memcmp(bytes.data() + std::size_t{t} * kOwnBytes, thread.bytes[0].data(), kOwnBytes) == 0);
      const auto left = device.read<std::uint64_t>(out + std::uint64_t{t} * 176, 22);
      for (unsigned v = 0; v < kValues; ++v) REQUIRE(left[v] == thread.values[v]);
      REQUIRE(std::memcmp(left.data() + 6, thread.bytes[1].data(), kOwnBytes) == 0);
      REQUIRE(std::memcmp(left.data() + 14, thread.bytes[2].data(), kOwnBytes) == 0);
      ++compared;
    }
  }
  CHECK(compared == 60 * kAccessThreads);
}

}  // namespace lockstep::exec::test
