// Operand completion and classification, case by case. What the tracer lists for an instruction follows from
// how it walks the operands (trace-format: first operand a vector register -> destination, else all are
// sources); what the instruction reads and writes is from NVIDIA's PTX ISA and disassembler listings.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "trace/opcode_table.hpp"

using namespace lockstep;
using namespace lockstep::trace;

namespace {

std::vector<TracedRegister> registers(const std::string& text) {
  std::vector<TracedRegister> out;
  std::istringstream in(text);
  for (std::string name; in >> name;) out.push_back(parse_register(name).value());
  return out;
}

template <unsigned N>
std::string show(const RegisterList<N>& list) {
  static constexpr const char* kNames[] = {"R", "UR", "P", "UP"};
  std::string out;
  for (const RegisterRange& r : list) {
    out += fmt::format("{}{}{}", out.empty() ? "" : " ", kNames[static_cast<unsigned>(r.space)], r.first);
    if (r.count > 1) out += fmt::format(":{}", r.count);
  }
  return out;
}

struct Given {
  std::string opcode, to, from;
  std::uint32_t width = 0;
  std::int64_t immediate = 0;
  std::uint32_t version = 80;
  std::uint32_t pc = 0x40;
};

StaticInst decode(const Given& g) {
  const auto to = registers(g.to), from = registers(g.from);
  InstructionText text;
  text.pc = g.pc;
  text.opcode = g.opcode;
  text.destinations = to;
  text.sources = from;
  text.mem_width = g.width;
  text.immediate = g.immediate;
  text.has_immediate = true;
  text.binary_version = g.version;
  return decode_instruction(text);
}

struct Case {
  Given given;
  OpClass op_class;
  std::string writes, reads;  // at PC 0x40: an inferred predicate that is written is P0
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.given.opcode << " sm_" << c.given.version << " [" << c.given.to << "] [" << c.given.from << "]");
    const StaticInst inst = decode(c.given);
    CHECK(inst.known);
    CHECK(inst.op_class == c.op_class);
    CHECK(show(inst.destinations) == c.writes);
    CHECK(show(inst.sources) == c.reads);
  }
}

}  // namespace

TEST_CASE("arithmetic operands") {
  check({
      {{"FFMA", "R3", "R3 R0 R255"}, OpClass::kFp32, "R3", "R3 R0"},
      {{"IADD3", "R14", "R12 R255"}, OpClass::kAlu, "R14", "R12"},
      {{"IADD3.X", "R15", "R16 R255"}, OpClass::kAlu, "R15", "R16"},
      {{"LEA.HI.X.SX32", "R5", "R6"}, OpClass::kAlu, "R5", "R6"},
      {{"IMAD", "R6", "R6 R3"}, OpClass::kImad, "R6", "R6 R3"},
      {{"IMAD.MOV.U32", "R17", "R255 R255 R11"}, OpClass::kImad, "R17", "R11"},
      {{"IMAD.WIDE", "R4", "R6 R7"}, OpClass::kImadWide, "R4:2", "R6 R7"},
      {{"IMAD.WIDE", "R4", "R6 R7 R8"}, OpClass::kImadWide, "R4:2", "R6 R7 R8:2"},
      {{"IMAD.WIDE", "R4", "R6 R8", 0, 4}, OpClass::kImadWide, "R4:2", "R6 R8:2"},
      {{"IMAD.WIDE.U32", "R4", "R6 R7 R255"}, OpClass::kImadWide, "R4:2", "R6 R7"},
      {{"IMAD.HI.U32", "R5", "R5 R7 R4"}, OpClass::kImadWide, "R5", "R5 R7 R4:2"},
      {{"XMAD.MRG", "R5", "R5 R7 R4", 0, 0, 52}, OpClass::kImad, "R5", "R5 R7 R4"},
      {{"IMAD", "R5", "R5 R7 R4", 0, 0, 61}, OpClass::kImadWide, "R5", "R5 R7 R4"},
      {{"IDP.4A.S8.S8", "R5", "R5 R7 R4"}, OpClass::kImad, "R5", "R5 R7 R4"},
      {{"HFMA2.MMA", "R7", "R255 R255"}, OpClass::kFp16, "R7", ""},
      {{"HADD2.F32", "R7", "R255 R3"}, OpClass::kFp16, "R7", "R3"},
      {{"MUFU.RCP64H", "R7", "R3"}, OpClass::kSfu, "R7", "R3"},
      {{"FMNMX", "R7", "R3 R4"}, OpClass::kAlu, "R7", "R3 R4"},
      {{"POPC", "R7", "R3"}, OpClass::kBitcount, "R7", "R3"},
      {{"CS2R", "R2", ""}, OpClass::kAlu, "R2:2", ""},
      {{"CS2R.32", "R2", ""}, OpClass::kAlu, "R2", ""},
      {{"S2R", "R0", ""}, OpClass::kSpecialReg, "R0", ""},
      {{"UIADD3", "", "UR4 UR63"}, OpClass::kUniform, "", "UR4"},
      {{"R2UR", "UR4", "R7"}, OpClass::kUniform, "UR4", "R7"},
      {{"IADD.64", "R4", "R6 R8", 0, 0, 100}, OpClass::kAlu, "R4:2", "R6:2 R8:2"},
      {{"FFMA2", "R4", "R6 R8 R10", 0, 0, 100}, OpClass::kFp32, "R4:2", "R6:2 R8:2 R10:2"},
  });
}

TEST_CASE("FP64 and conversion operands are register pairs where the format is 64 bits wide") {
  check({
      {{"DFMA", "R14", "R12 R8 R255"}, OpClass::kFp64, "R14:2", "R12:2 R8:2"},
      {{"DADD", "R12", "R8 R8"}, OpClass::kFp64, "R12:2", "R8:2 R8:2"},
      {{"DSETP.GEU.AND", "", "R2 R4"}, OpClass::kFp64, "P0", "R2:2 R4:2"},
      {{"F2F.F64.F32", "R2", "R4"}, OpClass::kConvert, "R2:2", "R4"},
      {{"F2F.F32.F64", "R2", "R4"}, OpClass::kConvert, "R2", "R4:2"},
      {{"F2F.F16.F32", "R2", "R4"}, OpClass::kConvert, "R2", "R4"},
      {{"I2F.F64", "R2", "R4"}, OpClass::kConvert, "R2:2", "R4"},
      {{"I2F.F64.U64", "R2", "R4"}, OpClass::kConvert, "R2:2", "R4:2"},
      {{"I2F.S64", "R2", "R4"}, OpClass::kConvert, "R2", "R4:2"},
      {{"F2I.F64.TRUNC", "R2", "R4"}, OpClass::kConvert, "R2", "R4:2"},
      {{"F2I.S64.TRUNC", "R2", "R4"}, OpClass::kConvert, "R2:2", "R4"},
      {{"F2I.U32.TRUNC.NTZ", "R2", "R4"}, OpClass::kConvert, "R2", "R4"},
      {{"FRND.F64.FLOOR", "R2", "R4"}, OpClass::kConvert, "R2:2", "R4:2"},
      {{"FRND.FLOOR", "R2", "R4"}, OpClass::kConvert, "R2", "R4"},
      {{"F2FP.BF16.PACK_AB", "R2", "R4 R5"}, OpClass::kAlu, "R2", "R4 R5"},
  });
}

TEST_CASE("memory operands: width / 4 registers of data, pairs of address") {
  check({
      {{"LDG.E", "R4", "R4", 4}, OpClass::kLoad, "R4", "R4:2"},
      {{"LDG.E.128.SYS", "R32", "R48", 16}, OpClass::kLoad, "R32:4", "R48:2"},
      {{"LDG.E.U8", "R14", "R14", 1}, OpClass::kLoad, "R14", "R14:2"},
      {{"LDG.E.64.CONSTANT", "R8", "R2", 8}, OpClass::kLoad, "R8:2", "R2:2"},
      {{"LDG.E.ENL2.256", "R8", "R2", 32, 0, 100}, OpClass::kLoad, "R8:8", "R2:2"},
      {{"LDG", "R8", "R2", 4, 0, 52}, OpClass::kLoad, "R8", "R2"},
      {{"LDG.E.128", "R255", "R2", 16}, OpClass::kLoad, "", "R2:2"},
      {{"LD.E.64", "R8", "R2", 8}, OpClass::kLoad, "R8:2", "R2:2"},
      {{"LDS.U.128", "R4", "R54", 16}, OpClass::kLoad, "R4:4", "R54"},
      {{"LDL.64", "R4", "R1", 8}, OpClass::kLoad, "R4:2", "R1"},
      {{"LDC.64", "R4", "R3", 0}, OpClass::kConstLoad, "R4:2", "R3"},
      {{"LDSM.16.M88.4", "R4", "R9", 16}, OpClass::kLoad, "R4:4", "R9"},
      {{"LDSM.16.MT88.2", "R4", "R9", 8}, OpClass::kLoad, "R4:2", "R9"},
      {{"LDSM.16.M88", "R4", "R9", 4}, OpClass::kLoad, "R4", "R9"},
      {{"STSM.16.MT88.4", "", "R9 R4", 16, 0, 90}, OpClass::kStore, "", "R9 R4:4"},
      {{"STG.E.128", "", "R56 R16", 16}, OpClass::kStore, "", "R56:2 R16:4"},
      {{"STG.E.U8", "", "R4 R255", 1}, OpClass::kStore, "", "R4:2"},
      {{"STS.128", "", "R53 R36", 16}, OpClass::kStore, "", "R53 R36:4"},
      {{"STS", "", "R36", 4}, OpClass::kStore, "", "R36"},  // [UR4]: only the data is listed
      {{"STL.64", "", "R1 R36", 8}, OpClass::kStore, "", "R1 R36:2"},
      {{"RED.E.ADD.F64.RN.STRONG.GPU", "", "R2 R4", 8}, OpClass::kReduction, "", "R2:2 R4:2"},
      {{"REDG.E.ADD.F16x2.RN.STRONG.GPU", "", "R2 R4", 4, 0, 90}, OpClass::kReduction, "", "R2:2 R4"},
      {{"REDG.E.ADD.F32x4.RN.STRONG.GPU", "", "R2 R4", 16, 0, 90}, OpClass::kReduction, "", "R2:2 R4:4"},
      {{"LDGSTS.E.BYPASS.128", "", "R5 R2", 16}, OpClass::kAsyncCopy, "", "R5 R2:2"},
  });
}

TEST_CASE("a result that the tracer lists among the sources is moved back") {
  check({
      {{"SHFL.BFLY", "", "R4 R5 R6"}, OpClass::kShuffle, "R4", "R5 R6"},
      {{"SHFL.IDX", "R22", "R19"}, OpClass::kShuffle, "R22", "R19"},
      {{"ATOMG.E.ADD.STRONG.GPU", "", "R0 R2 R5", 4}, OpClass::kAtomic, "R0", "R2:2 R5"},
      {{"ATOMG.E.ADD.STRONG.GPU", "", "R255 R2 R5", 4}, OpClass::kAtomic, "", "R2:2 R5"},
      {{"ATOMG.E.CAS.64.STRONG.GPU", "", "R0 R2 R4 R6", 8}, OpClass::kAtomic, "R0:2", "R2:2 R4:2 R6:2"},
      {{"ATOM.E.ADD", "R0", "R2 R5", 4, 0, 60}, OpClass::kAtomic, "R0", "R2:2 R5"},
      {{"ATOMS.ADD", "R10", "R6 R7", 4}, OpClass::kAtomic, "R10", "R6 R7"},
      {{"ATOMS.ADD", "R10", "R6", 4}, OpClass::kAtomic, "R10", "R6"},
      {{"ATOMS.CAST.SPIN", "", "R4 R6 R7", 4}, OpClass::kAtomic, "P0", "R4 R6 R7"},
      {{"LOP3.LUT", "", "R255 R4 R255"}, OpClass::kAlu, "P0", "R4"},
      {{"LOP3.LUT", "R3", "R5 R4 R255"}, OpClass::kAlu, "R3", "R5 R4"},
      {{"MATCH.ALL", "", "R4 R5"}, OpClass::kVote, "R4 P0", "R5"},
      {{"MATCH.ANY", "R4", "R5"}, OpClass::kVote, "R4", "R5"},
      {{"VOTE.ANY", "R23", ""}, OpClass::kVote, "R23", "P0:4"},
      {{"VOTE.ANY", "", ""}, OpClass::kVote, "P0", "P0:4"},
  });
}

TEST_CASE("predicates are inferred: comparisons write one of four, branches and selects read all") {
  check({
      {{"ISETP.GE.AND", "", "R6"}, OpClass::kAlu, "P0", "R6"},
      {{"ISETP.GE.OR", "", "R6"}, OpClass::kAlu, "P0", "R6 P0:4"},
      {{"ISETP.GT.U32.AND.EX", "", "R6 R7"}, OpClass::kAlu, "P0", "R6 R7 P0:4"},
      {{"FSETP.NEU.AND", "", "R3 R255"}, OpClass::kAlu, "P0", "R3"},
      {{"HSETP2.GT.AND", "", "R3 R4"}, OpClass::kFp16, "P0", "R3 R4"},
      {{"UISETP.GE.AND", "", ""}, OpClass::kUniform, "UP0", ""},
      {{"USEL", "", ""}, OpClass::kUniform, "", "UP0:4"},
      {{"PLOP3.LUT", "", ""}, OpClass::kAlu, "P0", "P0:4"},
      {{"R2P", "", "R3"}, OpClass::kAlu, "P0", "R3"},
      {{"SEL", "R2", "R3 R4"}, OpClass::kAlu, "R2", "R3 R4 P0:4"},
      {{"BRA", "", ""}, OpClass::kBranch, "", "P0:4"},
      {{"EXIT", "", ""}, OpClass::kExit, "", "P0:4"},
      {{"SYNCS.PHASECHK.TRANS64.TRYWAIT", "", "R4", 0, 0, 90}, OpClass::kMbarrier, "P0", "R4"},
      {{"SYNCS.ARRIVE.TRANS64", "", "R4", 0, 0, 90}, OpClass::kMbarrier, "", "R4"},
  });
  // Neighbours write different predicates, so that independent comparisons do not wait for each other.
  CHECK(show(decode({"ISETP.GE.AND", "", "R6", 0, 0, 80, 0x50}).destinations) == "P1");
  CHECK(show(decode({"ISETP.GE.AND", "", "R6", 0, 0, 60, 0x48}).destinations) == "P1");
}

TEST_CASE("matrix fragments have the sizes of the PTX ISA") {
  check({
      {{"HMMA.16816.F32", "R4", "R8 R12 R4"}, OpClass::kTensor, "R4:4", "R8:4 R12:2 R4:4"},
      {{"HMMA.16816.F16", "R4", "R8 R12 R255"}, OpClass::kTensor, "R4:2", "R8:4 R12:2"},
      {{"HMMA.1688.F32", "R20", "R4 R8 R20"}, OpClass::kTensor, "R20:4", "R4:2 R8 R20:4"},
      {{"HMMA.1688.F32.TF32", "R20", "R4 R8 R20"}, OpClass::kTensor, "R20:4", "R4:4 R8:2 R20:4"},
      {{"HMMA.884.F32.F32.STEP2", "R8", "R24 R22 R8", 0, 0, 70},
       OpClass::kTensor,
       "R8:2",
       "R24:2 R22:2 R8:2"},
      {{"HMMA.SP.16832.F32", "R4", "R8 R12 R4 R20"}, OpClass::kTensor, "R4:4", "R8:4 R12:4 R4:4 R20"},
      {{"IMMA.16832.S8.S8.SAT", "R4", "R8 R12 R4"}, OpClass::kTensor, "R4:4", "R8:4 R12:2 R4:4"},
      {{"IMMA.8816.U8.U8", "R4", "R8 R12 R4", 0, 0, 75}, OpClass::kTensor, "R4:2", "R8 R12 R4:2"},
      {{"IMMA.16864.S4.S4", "R4", "R8 R12 R4"}, OpClass::kTensor, "R4:4", "R8:4 R12:2 R4:4"},
      {{"DMMA.884", "R4", "R8 R12 R4"}, OpClass::kTensor, "R4:4", "R8:2 R12:2 R4:4"},
      {{"BMMA.168256.XOR.POPC", "R4", "R8 R12 R4"}, OpClass::kTensor, "R4:4", "R8:4 R12:2 R4:4"},
      {{"QMMA.16832.F32.E4M3.E4M3", "R4", "R8 R12 R4", 0, 0, 89},
       OpClass::kTensor,
       "R4:4",
       "R8:4 R12:2 R4:4"},
      {{"HGMMA.64x128x16.F32.BF16", "R24", "R24", 0, 0, 90}, OpClass::kWarpgroupMma, "R24:64", "R24:64"},
      {{"HGMMA.64x256x16.F16", "R24", "R4 R24", 0, 0, 90}, OpClass::kWarpgroupMma, "R24:64", "R4:4 R24:64"},
      {{"QGMMA.64x64x32.F32.E4M3.E5M2", "R24", "R255", 0, 0, 90}, OpClass::kWarpgroupMma, "R24:32", ""},
  });
}

TEST_CASE("multiply-accumulates and types of matrix instructions") {
  struct Work {
    std::string opcode;
    std::uint32_t macs;
    TensorType type;
    bool sparse;
  };
  const std::vector<Work> cases = {
      {"HMMA.884.F32.F32.STEP0", 256, TensorType::kF16F32, false},  // 4096 in 16 HMMA for m16n16k16
      {"HMMA.884.F16.F16.STEP1", 512, TensorType::kF16, false},     // 4096 in 8
      {"HMMA.1688.F16", 1024, TensorType::kF16, false},
      {"HMMA.16816.F32.BF16", 2048, TensorType::kBf16, false},
      {"HMMA.1684.F32.TF32", 512, TensorType::kTf32, false},
      {"HMMA.SP.16832.F32", 4096, TensorType::kF16F32, true},
      {"IMMA.16832.S8.S8", 4096, TensorType::kInt8, false},
      {"IMMA.8832.U4.U4", 2048, TensorType::kInt4, false},
      {"DMMA.884", 256, TensorType::kF64, false},
      {"BMMA.88128.XOR.POPC", 8192, TensorType::kBinary, false},
      {"QMMA.16832.F16.E5M2.E4M3", 4096, TensorType::kFp8, false},
      {"HGMMA.64x256x16.F32", 262144, TensorType::kF16F32, false},
      {"HGMMA.SP.64x64x32.F32.BF16", 131072, TensorType::kBf16, true},
      {"HGMMA.64x8x8.F32.TF32", 4096, TensorType::kTf32, false},
      {"IGMMA.64x96x32.S8.S8", 196608, TensorType::kInt8, false},
      {"UTCHMMA", 0, TensorType::kNone, false},  // the shape is in a descriptor, not in the trace
  };
  for (const Work& c : cases) {
    INFO(c.opcode);
    const StaticInst inst = decode({c.opcode, "R4", "R8 R12 R4", 0, 0, 90});
    CHECK(inst.known);
    CHECK(inst.macs == c.macs);
    CHECK(inst.tensor_type == c.type);
    CHECK(inst.tensor_sparse == c.sparse);
  }
}

TEST_CASE("operand lists of any length are taken") {
  const std::string many = "R0 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12";
  const StaticInst inst = decode({"BRA", many, many});
  CHECK(inst.destinations.size == 4);
  CHECK(inst.sources.size == 8);
  // A range does not run past the last register.
  CHECK(show(decode({"LDG.E.128", "R253", "R2", 16}).destinations) == "R253:2");
}

TEST_CASE("access width, cache hints and address spaces") {
  struct Access {
    std::string opcode;
    std::uint32_t bytes;
    MemSpace space;
    bool bypass, first;
  };
  const std::vector<Access> cases = {
      {"LDG.E", 4, MemSpace::kGlobal, false, false},
      {"LDG.E.S8", 1, MemSpace::kGlobal, false, false},
      {"LDG.E.U16.CONSTANT", 2, MemSpace::kGlobal, false, false},
      {"LDG.E.64.STRONG.GPU", 8, MemSpace::kGlobal, true, false},
      {"LDG.E.STRONG.SYS", 4, MemSpace::kGlobal, true, false},
      {"LDG.E.STRONG.SM", 4, MemSpace::kGlobal, false, false},
      {"LDG.E.SYS", 4, MemSpace::kGlobal, false, false},  // every weak load of Volta has .SYS
      {"LDG.E.CV", 4, MemSpace::kGlobal, true, false},
      {"LDG.E.EF.128", 16, MemSpace::kGlobal, false, true},
      {"LDGMC.E.ADD.F32x4.RN", 16, MemSpace::kGlobal, true, false},
      {"LDG.E.LTC128B.128.CONSTANT", 16, MemSpace::kGlobal, false, false},
      {"LDG.E.ENL2.256", 32, MemSpace::kGlobal, false, false},
      {"ATOMG.E.ADD.STRONG.GPU", 4, MemSpace::kGlobal, true, false},
      {"ATOMG.E.ADD.64.STRONG.GPU", 8, MemSpace::kGlobal, true, false},
      {"ATOMS.POPC.INC.32", 4, MemSpace::kShared, false, false},
      {"RED.E.MIN.S64.STRONG.GPU", 8, MemSpace::kGlobal, true, false},
      {"LDS.U.128", 16, MemSpace::kShared, false, false},
      {"LDSM.16.M88.4", 16, MemSpace::kShared, false, false},
      {"LDSM.16.M88", 4, MemSpace::kShared, false, false},
      {"LDL.128", 16, MemSpace::kLocal, false, false},
      {"ST.E.U8", 1, MemSpace::kGeneric, false, false},
      {"LDGSTS.E.BYPASS.128", 16, MemSpace::kGlobal, true, false},
      {"LDGSTS.E", 4, MemSpace::kGlobal, false, false},
      {"ULDC.64", 8, MemSpace::kConstant, false, false},
      {"FADD", 0, MemSpace::kNone, false, false},
  };
  for (const Access& c : cases) {
    INFO(c.opcode);
    const StaticInst inst = decode({c.opcode, "R4", "R2 R6", 4});
    CHECK(inst.known);
    CHECK(inst.access_bytes == c.bytes);
    CHECK(inst.space == c.space);
    CHECK(inst.bypass_l1 == c.bypass);
    CHECK((inst.l2_policy == kEvictFirstPolicy) == c.first);
    CHECK(inst.has_addresses);
    CHECK_FALSE(decode({c.opcode, "R4", "R2 R6", 0}).has_addresses);
  }
}

TEST_CASE("barriers, fences, immediates and control") {
  const auto bar = [](const char* opcode, std::int64_t immediate) {
    return decode({opcode, "", "", 0, immediate});
  };
  CHECK(bar("BAR.SYNC", 0).barrier == BarrierOp::kSync);
  CHECK(bar("BAR.SYNC.DEFER_BLOCKING", 3).barrier_id == 3);
  CHECK(bar("BAR.ARV", 15).barrier == BarrierOp::kArrive);
  CHECK(bar("BAR.ARV", 15).barrier_id == 15);
  CHECK(bar("BAR.RED.POPC", 0).barrier == BarrierOp::kReduce);
  CHECK(bar("B2R.RESULT", 0).barrier == BarrierOp::kNone);
  // Only the number of threads is traced: the same barrier for the same number, never barrier 0.
  CHECK(bar("BAR.SYNC", 128).barrier_id == bar("BAR.ARV", 128).barrier_id);
  CHECK(bar("BAR.SYNC", 128).barrier_id != bar("BAR.SYNC", 64).barrier_id);
  for (std::int64_t threads = 32; threads <= 1024; threads += 32) {
    CHECK(bar("BAR.SYNC", threads).barrier_id >= 1);
    CHECK(bar("BAR.SYNC", threads).barrier_id <= 15);
  }
  for (const std::int64_t odd : {std::int64_t{-1}, std::int64_t{17}, std::int64_t{1} << 40})
    CHECK(bar("BAR.SYNC", odd).barrier_id == 0);

  CHECK(decode({"MEMBAR.SC.GPU", "", ""}).fence == FenceScope::kGpu);
  CHECK(decode({"MEMBAR.ALL.CTA", "", ""}).fence == FenceScope::kCta);
  CHECK(decode({"MEMBAR.SC.SYS", "", ""}).fence == FenceScope::kSystem);
  CHECK(decode({"MEMBAR.GL", "", "", 0, 0, 60}).fence == FenceScope::kGpu);
  CHECK(decode({"FENCE.VIEW.ASYNC", "", "", 0, 0, 90}).fence == FenceScope::kCta);
  CHECK(decode({"ERRBAR", "", ""}).fence == FenceScope::kNone);

  CHECK(decode({"DEPBAR.LE", "", "", 0, 2}).op_class == OpClass::kDepBar);
  CHECK(decode({"DEPBAR.LE", "", "", 0, 2}).immediate == 2);
  CHECK(decode({"MOV", "R0", "", 0, 5'000'000'000}).immediate == 2147483647);
  CHECK(decode({"WARPGROUP.DEPBAR.LE", "", "", 0, 1, 90}).op_class == OpClass::kDepBar);
  CHECK(decode({"WARPGROUP.ARRIVE", "", "", 0, 0, 90}).op_class == OpClass::kConvergence);
  CHECK(decode({"CALL.REL.NOINC", "", ""}).may_branch);
  CHECK(decode({"BSYNC", "", ""}).may_branch);
  CHECK_FALSE(decode({"BSSY", "", ""}).may_branch);
  CHECK_FALSE(decode({"EXIT", "", ""}).may_branch);
  CHECK(decode({"BRA", "", "", 0, 0, 61}).bytes == 8);
  CHECK(decode({"BRA", "", "", 0, 0, 70}).bytes == 16);
}

TEST_CASE("register names") {
  const auto is = [](const char* text, RegSpace space, unsigned index) {
    const auto r = parse_register(text);
    return r && r->space == space && r->index == index;
  };
  CHECK(is("R0", RegSpace::kVector, 0));
  CHECK(is("R255", RegSpace::kVector, 255));
  CHECK(is("RZ", RegSpace::kVector, 255));
  CHECK(is("UR4", RegSpace::kUniform, 4));
  CHECK(is("URZ", RegSpace::kUniform, 255));
  CHECK(is("P6", RegSpace::kPredicate, 6));
  CHECK(is("PT", RegSpace::kPredicate, 7));
  CHECK(is("UP2", RegSpace::kUniformPredicate, 2));
  CHECK(is("UPT", RegSpace::kUniformPredicate, 7));
  for (const char* text :
       {"", "R", "U", "UR", "R256", "R-1", "R1x", "r1", "P8", "UP9", "R0001", "X1", "PZ", "1", "RZ1"})
    CHECK_FALSE(parse_register(text).has_value());
}
