#include "core/unit_class.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep::core {
namespace {

using stats::UnitClass;
using trace::OpClass;

/// Distinguishes the arithmetic of ALU and FMA pipes further than their class does.
struct Named {
  std::string_view prefix;
  UnitClass unit;
};
constexpr std::array kNamed{
    Named{"I2FP", UnitClass::kFp},
    Named{"F2FP", UnitClass::kFp},
    Named{"F2IP", UnitClass::kFp},
    Named{"LEA", UnitClass::kIntMultiply},
    Named{"ISCADD", UnitClass::kIntMultiply},
    Named{"IDP", UnitClass::kIntMultiply},
    Named{"XMAD", UnitClass::kIntMultiply},
    Named{"IMUL", UnitClass::kIntMultiply},
    Named{"UIMAD", UnitClass::kIntMultiply},
    Named{"FSET", UnitClass::kFp},
    Named{"FMNMX", UnitClass::kFp},
    Named{"FSEL", UnitClass::kFp},
    Named{"FCHK", UnitClass::kFp},
    Named{"FCMP", UnitClass::kFp},
    Named{"FADD", UnitClass::kFp},
    Named{"FSWZ", UnitClass::kFp},
    Named{"HADD2", UnitClass::kFp},
    Named{"HSET", UnitClass::kFp},
    Named{"HMNMX", UnitClass::kFp},
    Named{"I2I", UnitClass::kInt},
    Named{"FRND", UnitClass::kInt},
};

UnitClass of_class(OpClass c) {
  switch (c) {
    case OpClass::kAlu:
    case OpClass::kBitcount:
    case OpClass::kUniform:
    case OpClass::kShuffle:
      return UnitClass::kInt;
    case OpClass::kImad:
    case OpClass::kImadWide:
      return UnitClass::kIntMultiply;
    case OpClass::kFp32:
    case OpClass::kFp16:
      return UnitClass::kFpMultiply;
    case OpClass::kConvert:
      return UnitClass::kFp;
    case OpClass::kFp64:
      return UnitClass::kFp64;
    case OpClass::kSfu:
      return UnitClass::kSfu;
    case OpClass::kTensor:
    case OpClass::kWarpgroupMma:
      return UnitClass::kTensor;
    case OpClass::kTexture:
    case OpClass::kSurface:
      return UnitClass::kTexture;
    default:
      return UnitClass::kOther;
  }
}

}  // namespace

UnitClass unit_class(const trace::StaticInst& inst) {
  const UnitClass unit = of_class(inst.op_class);
  if (unit == UnitClass::kOther || unit == UnitClass::kFp64) return unit;
  const std::string_view mnemonic(inst.mnemonic.data());
  const auto named = std::find_if(kNamed.begin(), kNamed.end(),
                                  [&](const Named& n) { return mnemonic.starts_with(n.prefix); });
  return named == kNamed.end() ? unit : named->unit;
}

}  // namespace lockstep::core
