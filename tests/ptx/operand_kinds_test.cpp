// Operands of every kind in every place of common instructions, against what "PTX ISA 9.0", section 9.7,
// allows.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

/// A text for each kind of operand, and the letter that stands for the kind below.
struct OperandSample {
  char kind;
  std::string_view text;
};
constexpr OperandSample kSamples[] = {
    {'r', "%r1"},  // a register
    {'_', "_"},        {'n', "!%p1"},       {'b', "%r1.b0"},
    {'c', "7"},        {'s', "%tid.x"},     {'v', "var"},
    {'a', "[%d1]"},    {'2', "{%r1, %r2}"}, {'4', "{%r1, %r2, %r3, %r4}"},
    {'k', "{%r1, 5}"}, {'p', "%r1|%p1"},    {'o', "[%d1, {%r1}]"},
    {'t', "targets"},
};
constexpr std::string_view kTo = "r_", kPairTo = "r_p", kValue = "rncsv", kTruth = "rnc", kAddress = "a";

/// An instruction whose operands may each be of the kinds that the letters name. Types of registers are not
/// checked by the reader, so one register stands for all.
struct KindRow {
  std::string_view form;
  std::vector<std::string_view> operands;
};

const std::vector<KindRow>& kind_rows() {
  static const std::vector<KindRow> rows = {
      {"add.s32", {kTo, kValue, kValue}},
      {"abs.f32", {kTo, kValue}},
      {"mad.lo.s32", {kTo, kValue, kValue, kValue}},
      {"fma.rn.f32", {kTo, kValue, kValue, kValue}},
      {"shf.l.wrap.b32", {kTo, kValue, kValue, kValue}},
      {"setp.lt.s32", {kPairTo, kValue, kValue}},
      {"setp.lt.and.s32", {kPairTo, kValue, kValue, kTruth}},
      {"selp.b32", {kTo, kValue, kValue, kTruth}},
      {"cvt.u32.u16", {kTo, kValue}},
      {"mov.b64", {"r_24", "rncsv24k"}},
      {"ld.global.b32", {kTo, kAddress}},
      {"ld.global.v2.b32", {"2", kAddress}},
      {"ld.global.v4.b32", {"4", kAddress}},
      {"st.global.b32", {kAddress, kValue}},
      {"st.global.v2.b32", {kAddress, "2k"}},
      {"atom.global.add.u32", {kTo, kAddress, kValue}},
      {"atom.global.cas.b32", {kTo, kAddress, kValue, kValue}},
      {"red.global.add.u32", {kAddress, kValue}},
      {"prefetch.global.L2", {kAddress}},
      {"bar.sync", {kValue}},
      {"membar.gl", {}},
      {"popc.b32", {kTo, kValue}},
      {"brx.idx", {kValue, "t"}},
      {"lop3.b32", {kTo, kValue, kValue, kValue, "c"}},
      {"cvta.to.global.u64", {kTo, kValue}},
      {"vote.sync.ballot.b32", {kTo, kTruth, kValue}},
      {"shfl.sync.idx.b32", {kPairTo, kValue, kValue, kValue, kValue}},
  };
  return rows;
}

std::string_view text_of(char kind) { return std::ranges::find(kSamples, kind, &OperandSample::kind)->text; }

std::string message_of(const KindRow& row, const std::vector<char>& kinds) {
  std::string text(row.form);
  for (std::size_t i = 0; i < kinds.size(); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : ",", text_of(kinds[i]));
  return parse_message(
      module_text(".global .b32 var;\n") +
      kernel_text("targets: .branchtargets L;\nL: " + text + ";").substr(module_text("").size()));
}

std::vector<char> first_kinds(const KindRow& row) {
  std::vector<char> kinds;
  for (const std::string_view allowed : row.operands) kinds.push_back(allowed.front());
  return kinds;
}

}  // namespace

TEST_CASE("ptx operands: each place of an instruction takes the kinds of the ISA, and no others") {
  for (const KindRow& row : kind_rows()) {
    const std::vector<char> good = first_kinds(row);
    CAPTURE(row.form);
    REQUIRE(message_of(row, good) == "no error");
    for (std::size_t at = 0; at < good.size(); ++at)
      for (const OperandSample& sample : kSamples) {
        std::vector<char> kinds = good;
        kinds[at] = sample.kind;
        CAPTURE(at, sample.text);
        const std::string found = message_of(row, kinds);
        if (row.operands[at].find(sample.kind) != std::string_view::npos)
          CHECK(found == "no error");
        else
          CHECK_THAT(found, Catch::StartsWith("bad.ptx:"));
      }
  }
}

TEST_CASE(
    "ptx operands: an operand of a wrong kind is named with its place, what it is and what is expected") {
  const auto message = [](const std::string& statement) {
    const std::string found = parse_message(kernel_text("\n" + statement));
    return found.substr(std::min(found.find(": ", 10) + 2, found.size()));
  };
  CHECK(message("add.s32 [%d1], %r1, %r2;") == "operand 1 of add.s32 is an address; expected register");
  CHECK(message("add.s32 %r1, _, %r2;") == "operand 2 of add.s32 is '_'; expected value");
  CHECK(message("add.s32 5, %r1, %r2;") == "operand 1 of add.s32 is a constant; expected register");
  CHECK(message("ld.global.b32 %r1, %d1;") == "operand 2 of ld.global.b32 is a register; expected [address]");
  CHECK(message("ld.global.v2.b32 {%r1, %r2, %r3, %r4}, [%d1];") ==
        "operand 1 of ld.global.v2.b32 is a vector of 4; expected {2 registers}");
  CHECK(message("ld.global.v2.b32 {%r1, 5}, [%d1];") ==
        "operand 1 of ld.global.v2.b32 is a vector of 2 with a constant; expected {2 registers}");
  CHECK(message("st.global.v4.b32 [%d1], {%r1, %r2};") ==
        "operand 2 of st.global.v4.b32 is a vector of 2; expected {4 values}");
  CHECK(message("selp.b32 %r1, %r2, %r3, %tid.x;") ==
        "operand 4 of selp.b32 is a special register; expected predicate");
  CHECK(message("lop3.b32 %r1, %r2, %r3, %r4, %r5;") ==
        "operand 5 of lop3.b32 is a register; expected constant");
  CHECK(message("setp.lt.s32 !%p1, %r1, %r2;") ==
        "operand 1 of setp.lt.s32 is a negated predicate; expected register or register|predicate");
  CHECK(message("add.s32 %r1, %r2;") == "add.s32 has 2 operands; expected register, value, value");
  CHECK(message("membar.gl %r1;") == "membar.gl has 1 operand; expected none");
}

TEST_CASE("ptx functions: random directives in any order are kept, printed and read again") {
  const auto directives_of = [](const std::string& text) {
    const Module m = parse(module_text(".entry k() " + text + " { ret; }"), "k.ptx");
    const Module again = parse(print(m), "printed.ptx");
    CHECK(difference(m, again) == "");
    return m.functions.at(0).directives;
  };
  std::vector<std::string> texts = {".maxntid 16, 8",
                                    ".reqntid 4, 3, 2",
                                    ".minnctapersm 2",
                                    ".maxnctapersm 3",
                                    ".maxnreg 64",
                                    ".maxclusterrank 8",
                                    ".noreturn",
                                    ".explicitcluster",
                                    ".blocksareclusters",
                                    ".reqnctapercluster 2",
                                    ".pragma \"nounroll\";"};
  std::mt19937 random(4);
  for (int round = 0; round < 40; ++round) {
    std::shuffle(texts.begin(), texts.end(), random);
    std::string text;
    for (const std::string& directive : texts) text += directive + (random() % 2 == 0 ? " " : "\n");
    const Directives d = directives_of(text);
    CHECK(d.maxntid == std::array<std::uint32_t, 3>{16, 8, 1});
    CHECK(d.reqntid == std::array<std::uint32_t, 3>{4, 3, 2});
    CHECK(d.reqnctapercluster == std::array<std::uint32_t, 3>{2, 1, 1});
    CHECK((d.minnctapersm == 2 && d.maxnctapersm == 3 && d.maxnreg == 64 && d.maxclusterrank == 8));
    CHECK((d.noreturn && d.explicitcluster && d.blocksareclusters));
    CHECK(d.pragmas == std::vector<std::string>{"nounroll"});
  }
  CHECK(directives_of("") == Directives{});
}

}  // namespace lockstep::ptx
