// The opcode table as a whole: complete against public lists, consistent row by row.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "paths.hpp"
#include "trace/opcode_table.hpp"
#include "trace/opcodes_rows.hpp"

using namespace lockstep::trace;

namespace {

/// NVIDIA, "CUDA Binary Utilities", instruction set reference: all opcodes of the tables for Maxwell/Pascal,
/// Volta, Turing, Ampere/Ada, Hopper and Blackwell.
constexpr const char* kReference =
    "FADD FADD2 FADD32I FCHK FCMP FFMA FFMA2 FFMA32I FHADD FHFMA FMNMX FMNMX3 FMUL FMUL2 FMUL32I FSEL FSET "
    "FSETP "
    "FSWZADD MUFU RRO HADD2 HADD2_32I HFMA2 HFMA2_32I HMMA HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 DADD DFMA "
    "DMMA "
    "DMNMX DMUL DSET DSETP OMMA QMMA BFE BFI BMMA BMSK BREV FLO IABS IADD IADD3 IADD32I ICMP IDP IDP4A IMAD "
    "IMAD32I IMADSP IMMA IMNMX IMUL IMUL32I ISCADD ISCADD32I ISET ISETP LEA LOP LOP3 LOP32I POPC SHF SHL SHR "
    "VABSDIFF VABSDIFF4 VADD VHMNMX VIADD VIADDMNMX VIMNMX VIMNMX3 VMNMX XMAD F2F F2I F2FP F2IP I2F I2FP I2I "
    "I2IP "
    "FRND MOV MOV32I MOVM PRMT SEL SGXT SHFL CSET CSETP P2R PLOP3 PSET PSETP R2P FENCE LD LDC LDCU LDG "
    "LDGDEPBAR "
    "LDGMC LDGSTS LDL LDS LDSM ST STAS STG STL STS STSM SYNCS MATCH QSPC ATOM ATOMG ATOMS RED REDAS REDG "
    "CCTL CCTLL "
    "CCTLT ERRBAR MEMBAR CREDUX CS2UR R2UR REDUX S2UR UBMSK UBREV UCGABAR_ARV UCGABAR_WAIT UCLEA UF2F UF2FP "
    "UF2I "
    "UF2IP UFADD UFFMA UFLO UFMNMX UFMUL UFRND UFSEL UFSET UFSETP UI2F UI2FP UI2I UI2IP UIABS UIADD3 UIMAD "
    "UIMNMX "
    "UISETP ULDC ULEA ULEPC ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USETMAXREG "
    "USGXT USHF "
    "USHL USHR UGETNEXTWORKID UMEMSETS UREDGR USTGR UVIADD UVIMNMX UVIRTCOUNT VOTEU BGMMA HGMMA IGMMA QGMMA "
    "WARPGROUP WARPGROUPSET UBLKCP UBLKPF UBLKRED UTMACCTL UTMACMDFLUSH UTMALDG UTMAPF UTMAREDG UTMASTG LDT "
    "LDTM STT "
    "STTM UTCATOMSWS UTCBAR UTCCP UTCHMMA UTCIMMA UTCOMMA UTCQMMA UTCSHIFT TEX TEXS TLD TLD4 TLD4S TLDS TMML "
    "TXD TXQ "
    "SUATOM SULD SURED SUST ACQBULK ACQSHMINIT BMOV BPT BRA BREAK BRK BRX BRXU BSSY BSYNC CAL CALL CGAERRBAR "
    "CONT "
    "ELECT ENDCOLLECTIVE EXIT JCAL JMP JMX JMXU KIL KILL NANOSLEEP PBK PCNT PEXIT PREEXIT PRET RET RPCMOV "
    "RTT SSY "
    "SYNC WARPSYNC YIELD B2R BAR CS2R DEPBAR GETLMEMBASE LEPC NOP PMTRIG R2B S2R SETCTAID SETLMEMBASE VOTE";

/// Opcodes of the published synthetic traces that Accel-Sim was measured with.
constexpr const char* kMeasured =
    "MOV S2R IMAD ISETP.GE.AND EXIT IMAD.WIDE LDG.E.SYS FADD STG.E.SYS IMAD.MOV.U32 CS2R LDG.E.128.SYS STS "
    "STS.128 "
    "BAR.SYNC LDS.U.128 FFMA IADD3 BRA STG.E.128.SYS LDG.E.64.SYS ISETP.NE.AND STG.E.64.SYS FMUL MUFU.EX2 "
    "MUFU.RCP "
    "FSETP.GEU.AND LDC LDG.E.64.STRONG.GPU LDS.U ATOMS.ADD STL LDL DADD DFMA HADD2 HMMA.1688.F32 MUFU.RSQ "
    "POPC "
    "SHFL.IDX VOTE.ANY RED.E.ADD.STRONG.GPU ATOMG.E.ADD.STRONG.GPU MEMBAR.SC.GPU STG.E.U8.SYS";

StaticInst decode(std::string_view opcode, std::uint32_t version) {
  InstructionText text;
  text.opcode = opcode;
  text.binary_version = version;
  return decode_instruction(text);
}

void check_known(const char* list) {
  std::istringstream in(list);
  for (std::string opcode; in >> opcode;) {
    INFO(opcode);
    for (const std::uint32_t version : {50u, 61u, 70u, 75u, 80u, 90u, 100u})
      CHECK(decode(opcode, version).known);
  }
}

bool is_memory(OpClass c) {
  return c == OpClass::kLoad || c == OpClass::kStore || c == OpClass::kAtomic || c == OpClass::kReduction ||
         c == OpClass::kAsyncCopy || c == OpClass::kConstLoad;
}

}  // namespace

TEST_CASE("every opcode of NVIDIA's reference is in the table") { check_known(kReference); }

TEST_CASE("every opcode of the measured synthetic traces is in the table") { check_known(kMeasured); }

TEST_CASE("every opcode of the real traces is in the table") {
  const std::filesystem::path folder =
      std::filesystem::path(LOCKSTEP_SOURCE_DIR) / ".." / "shared" / "traces";
  if (!std::filesystem::is_directory(folder)) return;
  std::set<std::string> opcodes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".traceg") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      // PC mask ndst [R..] opcode: without the library's parser.
      std::istringstream in(line);
      std::string pc, mask, opcode;
      unsigned count = 0;
      if (!(in >> pc >> mask >> count) || mask.size() != 8 || count > 1) continue;
      if (count == 1) in >> opcode;
      if (in >> opcode) opcodes.insert(opcode);
    }
  }
  CHECK(opcodes.size() > 20);
  for (const std::string& opcode : opcodes) {
    INFO(opcode);
    CHECK(decode(opcode, 80).known);
  }
}

TEST_CASE("rows are sorted, unique and consistent") {
  const auto rows = opcode_rows();
  REQUIRE(rows.size() > 250);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const OpcodeRow& row = rows[i];
    INFO(row.name);
    if (i > 0) CHECK(rows[i - 1].name < row.name);
    CHECK(std::all_of(row.name.begin(), row.name.end(), [](char c) {
      return std::isupper(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) ||
             c == '_';
    }));
    CHECK(row.name.size() < std::tuple_size_v<decltype(StaticInst::mnemonic)>);
    CHECK(row.op_class < OpClass::kCount);
    CHECK(find_opcode(row.name) == &row);
    // Memory instructions have a space and an operand shape of their own; arithmetic has neither.
    const bool data = is_memory(row.op_class);
    CHECK(data == (row.shape == OperandShape::kAccess || row.shape == OperandShape::kMatrix));
    if (data) CHECK(row.space != MemSpace::kNone);
    CHECK((row.op_class == OpClass::kConstLoad) == (row.space == MemSpace::kConstant));
    CHECK((row.op_class == OpClass::kTensor) == (row.shape == OperandShape::kMma));
    // The uniform datapath is U...; not every U... runs there.
    if (row.op_class == OpClass::kUniform)
      CHECK((row.name[0] == 'U' || row.name.ends_with("UR")));
    else
      CHECK_FALSE(row.flags & (kWritesUniformPredicate | kReadsUniformPredicate));
    if (row.op_class == OpClass::kFp64) CHECK(row.name[0] == 'D');
    if (row.flags & kPredicateFirst) CHECK_FALSE(row.flags & kWritesPredicate);
  }
  CHECK(find_opcode("") == nullptr);
  CHECK(find_opcode("FADD ") == nullptr);
  CHECK(find_opcode("ZZZ") == nullptr);
}

TEST_CASE("variants name rows and change something") {
  for (const OpcodeVariant& v : opcode_variants()) {
    INFO(v.name << " " << v.modifier);
    const OpcodeRow* row = find_opcode(v.name);
    REQUIRE(row != nullptr);
    CHECK(v.first_version <= v.last_version);
    CHECK((v.op_class != row->op_class || v.shape != row->shape || v.flags != row->flags));
  }
}

TEST_CASE("an opcode that is not in the table gets the class that its name suggests") {
  struct Guess {
    const char* opcode;
    std::uint32_t width;
    OpClass op_class;
    MemSpace space;
  };
  const Guess cases[] = {
      {"UFOO3.X", 0, OpClass::kUniform, MemSpace::kNone},
      {"LDGX.E.64", 8, OpClass::kLoad, MemSpace::kGlobal},
      {"LDQ", 4, OpClass::kLoad, MemSpace::kGeneric},
      {"STSX", 4, OpClass::kStore, MemSpace::kShared},
      {"ATOMX.E", 4, OpClass::kAtomic, MemSpace::kGeneric},
      {"REDX", 4, OpClass::kReduction, MemSpace::kGlobal},
      {"XMMA.16816.F32", 0, OpClass::kTensor, MemSpace::kNone},
      {"XGMMA.64x64x16.F32", 0, OpClass::kWarpgroupMma, MemSpace::kNone},
      {"UTMAFOO", 0, OpClass::kBulkCopy, MemSpace::kNone},
      {"XSETP", 0, OpClass::kAlu, MemSpace::kNone},
      {"FNEW", 0, OpClass::kFp32, MemSpace::kNone},
      {"DNEW", 0, OpClass::kFp64, MemSpace::kNone},
      {"WHATEVER", 0, OpClass::kAlu, MemSpace::kNone},
      {"WHATEVER", 4, OpClass::kStore, MemSpace::kGeneric},
      {"", 0, OpClass::kAlu, MemSpace::kNone},
  };
  for (const Guess& g : cases) {
    INFO(g.opcode << " width " << g.width);
    InstructionText text;
    text.opcode = g.opcode;
    text.mem_width = g.width;
    const StaticInst inst = decode_instruction(text);
    CHECK_FALSE(inst.known);
    CHECK(inst.op_class == g.op_class);
    CHECK(inst.space == g.space);
  }
  InstructionText text;
  text.opcode = "AVERYLONGOPCODENAME.X.Y";
  CHECK(std::string(decode_instruction(text).mnemonic.data()) == "AVERYLONGOPCODE");
}

TEST_CASE("no text breaks the decoder") {
  std::uint64_t state = 1;
  const std::string alphabet = "ABCDEFLMSTUX0123456789.x_ -";
  const TracedRegister registers[] = {
      {RegSpace::kVector, 254}, {RegSpace::kUniform, 62}, {RegSpace::kVector, 255}};
  const auto rows = opcode_rows();
  for (int i = 0; i < 20000; ++i) {
    const auto next = [&] {
      return static_cast<std::size_t>((state = state * 6364136223846793005 + 1) >> 33);
    };
    std::string opcode = i % 2 ? std::string(rows[next() % rows.size()].name) + "." : "";
    for (std::size_t n = next() % 24; n > 0; --n) opcode += alphabet[next() % alphabet.size()];
    InstructionText text;
    text.opcode = opcode;
    text.pc = static_cast<std::uint32_t>(next());
    text.destinations = std::span(registers).first(next() % 4);
    text.sources = std::span(registers).first(next() % 4);
    text.mem_width = next() % 3 == 0 ? 0xffffffffu : 0;
    text.has_immediate = true;
    text.immediate = static_cast<std::int64_t>(next()) << 20;
    text.binary_version = static_cast<std::uint32_t>(next() % 200);
    const StaticInst inst = decode_instruction(text);
    REQUIRE(inst.op_class < OpClass::kCount);
    for (const auto& r : inst.destinations) REQUIRE(r.first + r.count <= 256);
    for (const auto& r : inst.sources) REQUIRE(r.first + r.count <= 256);
  }
}
