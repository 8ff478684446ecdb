// The class of an opcode, against AccelWattch's table of them.
#include "core/unit_class.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "trace/opcodes_rows.hpp"

namespace lockstep::core {
namespace {

using stats::UnitClass;

UnitClass class_of(const std::string& opcode) {
  const trace::OpcodeRow* row = trace::find_opcode(opcode);
  INFO(opcode);
  REQUIRE(row);
  trace::StaticInst inst;
  inst.op_class = row->op_class;
  std::strncpy(inst.mnemonic.data(), opcode.c_str(), inst.mnemonic.size() - 1);
  return unit_class(inst);
}

}  // namespace

// The public accel-sim-framework's gpu-simulator/ISA_Def/accelwattch_component_mapping.h: INT__OP,
// INT_MUL_OP, FP__OP, FP_MUL_OP, DP___OP and DP_MUL_OP, FP_SIN_OP, TENSOR__OP, TEX__OP, OTHER_OP.
TEST_CASE("opcodes are in AccelWattch's classes") {
  const std::pair<UnitClass, std::vector<std::string>> kClasses[] = {
      {UnitClass::kInt,
       {"BREV", "FLO",  "IABS", "IADD3", "IMNMX", "ISETP", "LOP3", "POPC", "SHF",  "I2I",    "FRND",
        "MOV",  "PRMT", "SEL",  "SGXT",  "SHFL",  "PLOP3", "P2R",  "R2P",  "CS2R", "UIADD3", "USHF"}},
      {UnitClass::kIntMultiply, {"IMAD", "IMUL", "LEA", "IDP"}},
      {UnitClass::kFp,
       {"FADD", "FCHK", "FMNMX", "FSEL", "FSET", "FSETP", "HADD2", "HSET2", "HSETP2", "F2F", "F2I", "I2F"}},
      {UnitClass::kFpMultiply, {"FFMA", "FMUL", "HFMA2", "HMUL2"}},
      {UnitClass::kFp64, {"DADD", "DFMA", "DMUL", "DSETP"}},
      {UnitClass::kSfu, {"MUFU"}},
      {UnitClass::kTensor, {"HMMA", "IMMA"}},
      {UnitClass::kTexture, {"TEX", "TLD4"}},
      {UnitClass::kOther,
       {"LDG", "STG", "LDS", "STS", "LDC", "LDL", "ATOMG", "RED", "MEMBAR", "BRA", "EXIT", "BAR", "BSSY",
        "S2R", "NOP", "DEPBAR", "VOTE"}},
  };
  for (const auto& [expected, opcodes] : kClasses)
    for (const std::string& opcode : opcodes) {
      INFO(opcode);
      CHECK(class_of(opcode) == expected);
    }
}

}  // namespace lockstep::core
