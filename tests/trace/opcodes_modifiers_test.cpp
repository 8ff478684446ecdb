// Modifiers of opcodes: how texts are divided, and what NVIDIA's disassembler means by widths, formats and
// shapes.
#include "trace/opcodes_modifiers.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/random.hpp"

namespace lockstep::trace {
namespace {

using lockstep::test::Random32;

std::vector<std::string> modifiers_of(const std::string& text) {
  const Opcode opcode(text);
  return {opcode.begin(), opcode.end()};
}

/// 32-bit registers of a lane for `elements` of a matrix spread over `lanes`, at least one.
unsigned spread(std::uint64_t elements, unsigned bits, unsigned lanes) {
  const std::uint64_t all = elements * bits / 32;
  return static_cast<unsigned>(std::max<std::uint64_t>(1, (all + lanes - 1) / lanes));
}

struct InputFormat {
  const char* opcode;  // with a shape and the format's modifiers to be put in
  TensorType type;
  unsigned bits;
};

}  // namespace

TEST_CASE("opcode text: what stands before, between and behind the dots") {
  CHECK(Opcode("LDG.E.128.SYS").base() == "LDG");
  CHECK(modifiers_of("LDG.E.128.SYS") == std::vector<std::string>{"E", "128", "SYS"});
  CHECK(Opcode("EXIT").base() == "EXIT");
  CHECK(modifiers_of("EXIT").empty());
  CHECK(modifiers_of("A..B.") == std::vector<std::string>{"", "B", ""});
  CHECK(Opcode("").base().empty());
  CHECK(Opcode(".E").base().empty());
  CHECK(Opcode("LDG.E.SYS").has("SYS"));
  for (const char* other : {"SY", "SYSX", "sys", "LDG", ""}) CHECK_FALSE(Opcode("LDG.E.SYS").has(other));
}

TEST_CASE("opcode text: random texts are divided as a walk over their letters divides them") {
  Random32 random(2);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    std::vector<std::string> parts(1);
    for (auto n = random() % 40; n > 0; --n) {
      const char c = random() % 4 == 0 ? '.' : static_cast<char>('A' + random() % 26);
      text += c;
      if (c == '.')
        parts.emplace_back();
      else
        parts.back() += c;
    }
    INFO(text);
    REQUIRE(Opcode(text).base() == parts.front());
    parts.erase(parts.begin());
    if (parts.size() > 16) parts.resize(16);  // no real opcode has as many
    REQUIRE(modifiers_of(text) == parts);
    for (const std::string& part : parts) REQUIRE(Opcode(text).has(part));
  }
}

TEST_CASE("modifiers of width: bits of a scalar, times the lanes of a packed format") {
  for (const unsigned bits : {8u, 16u, 32u, 64u}) {
    for (const char* sign : {"U", "S", "B"}) {
      CHECK(modifier_bytes(fmt::format("{}{}", sign, bits)) == bits / 8);
      CHECK(modifier_bytes(fmt::format("{}{}x2", sign, bits)) == bits / 4);
    }
    if (bits >= 16)
      for (const unsigned lanes : {2u, 4u, 8u})
        CHECK(modifier_bytes(fmt::format("F{}x{}", bits, lanes)) == bits / 8 * lanes);
  }
  for (const auto& [text, bytes] :
       {std::pair("32", 4u), {"64", 8u}, {"128", 16u}, {"256", 32u}, {"BF16", 2u}, {"BF16x2", 4u}})
    CHECK(modifier_bytes(text) == bytes);
  for (const char* none : {"", "E", "SYS", "16", "8", "LTC128B", "F16x3", "F16x", "x2", "Ex2", "f32", "F128",
                           "U128", "M88", "1D"})
    CHECK(modifier_bytes(none) == 0);
}

TEST_CASE("an access has the first width among its modifiers, else 4 bytes") {
  const std::pair<const char*, unsigned> rows[] = {{"LDG.E", 4},
                                                   {"LDG.E.U8", 1},
                                                   {"LDG.E.LTC128B.64.CONSTANT", 8},
                                                   {"STS.U16", 2},
                                                   {"LDS.U.128", 16},
                                                   {"RED.E.ADD.F64.RN", 8},
                                                   {"REDG.E.ADD.F16x2.RN", 4},
                                                   {"ATOMG.E.CAS.64.STRONG.GPU", 8},
                                                   {"LDG.E.ENL2.256", 32},
                                                   {"ST.E.EF.S16", 2},
                                                   {"LDL", 4}};
  for (const auto& [text, bytes] : rows) {
    INFO(text);
    CHECK(access_bytes(Opcode(text)) == bytes);
  }
}

TEST_CASE("matrix loads have a register for each matrix, or for each repetition") {
  const std::pair<const char*, unsigned> rows[] = {
      {"LDSM.16.M88", 1}, {"LDSM.16.M88.2", 2},     {"LDSM.16.MT88.4", 4}, {"STSM.16.M88.4", 4},
      {"LDTM.x1", 1},     {"LDTM.x32", 32},         {"STTM.x128", 128},    {"LDTM.16", 16},
      {"LDTM.x256", 1},   {"LDTM.16dp64bit.x4", 4}, {"LDSM.16.M88.x", 1}};
  for (const auto& [text, registers] : rows) {
    INFO(text);
    CHECK(matrix_registers(Opcode(text)) == registers);
  }
}

TEST_CASE("products of a warp: work and fragments follow from shape and formats (PTX ISA, mma)") {
  constexpr InputFormat kInputs[] = {
      {"HMMA.{}.F32.BF16", TensorType::kBf16, 16}, {"HMMA.{}.F32.TF32", TensorType::kTf32, 32},
      {"HMMA.{}.F32", TensorType::kF16F32, 16},    {"IMMA.{}.S8.U8", TensorType::kInt8, 8},
      {"IMMA.{}.U4.S4", TensorType::kInt4, 4},     {"QMMA.{}.F32.E4M3.E5M2", TensorType::kFp8, 8},
      {"BMMA.{}.AND.POPC", TensorType::kBinary, 1}};
  for (const InputFormat& input : kInputs)
    for (const unsigned m : {8u, 16u})
      for (unsigned k = 4; k <= 256; k *= 2)
        for (const bool sparse : {false, true}) {
          const std::string shape = fmt::format("{}8{}", m, k);
          std::string text = fmt::format(fmt::runtime(input.opcode), shape);
          if (sparse) text.insert(text.find('.'), ".SP");
          INFO(text);
          const auto found = mma_shape(Opcode(text));
          REQUIRE(found.has_value());
          CHECK((found->macs == m * 8 * k && found->type == input.type && found->sparse == sparse));
          CHECK(found->a == spread(sparse ? m * k / 2 : m * k, input.bits, 32));
          CHECK(found->b == spread(8 * k, input.bits, 32));
          CHECK(found->c == spread(m * 8, 32, 32));
        }
  CHECK(mma_shape(Opcode("HMMA.16816.F16"))->c == 2);  // of FP16 sums two share a register
  CHECK(mma_shape(Opcode("DMMA.884"))->c == 4);
  for (const char* none :
       {"HMMA", "HMMA.F32", "HMMA.168", "HMMA.880", "HMMA.12816", "HMMA.168x16", "HMMA.16899999999999"})
    CHECK_FALSE(mma_shape(Opcode(none)).has_value());
}

TEST_CASE("products of a warpgroup: work and fragments follow from shape and formats (PTX ISA, wgmma)") {
  constexpr InputFormat kInputs[] = {{"HGMMA.{}.F32", TensorType::kF16F32, 16},
                                     {"HGMMA.{}.F32.BF16", TensorType::kBf16, 16},
                                     {"IGMMA.{}.S8.S8", TensorType::kInt8, 8},
                                     {"QGMMA.{}.F32.E4M3.E4M3", TensorType::kFp8, 8}};
  for (const InputFormat& input : kInputs)
    for (unsigned n = 8; n <= 256; n += 8) {
      const unsigned k = 256 / input.bits;
      const std::string text = fmt::format(fmt::runtime(input.opcode), fmt::format("64x{}x{}", n, k));
      INFO(text);
      const auto found = warpgroup_shape(Opcode(text));
      REQUIRE(found.has_value());
      CHECK((found->macs == 64 * n * k && found->type == input.type && !found->sparse));
      CHECK(found->a == spread(64 * k, input.bits, 128));
      CHECK(found->c == spread(64 * n, 32, 128));
    }
  for (const char* none : {"HGMMA", "HGMMA.64x8", "HGMMA.64x8x16x2", "HGMMA.64x0x16", "HGMMA.64x8x",
                           "HGMMA.x8x16", "HGMMA.64x8x2000"})
    CHECK_FALSE(warpgroup_shape(Opcode(none)).has_value());
}

}  // namespace lockstep::trace
