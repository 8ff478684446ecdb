#include "exec/slow_path.hpp"

#include <bit>
#include <cmath>

#include "exec/lane_loop.hpp"
#include "ptx/ir.hpp"

namespace lockstep::exec {

namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t exponent(std::uint64_t f32) { return low(f32) >> 23 & 0xff; }

// FCHK: the reciprocal and the quotient are normal numbers, and so is the remainder, which is 2^24 times
// smaller than the dividend.
bool divides_f32(std::uint64_t a, std::uint64_t b) {
  const std::uint32_t ea = exponent(a), eb = exponent(b), eq = ea - eb + 127;
  return ea >= 25 && ea <= 254 && eb >= 1 && eb <= 252 && eq >= 2 && eq <= 253;
}

// IADD3 x 0x1800000; LOP3 & 0x7f800000; ISETP.GT.U32 0x1ffffff
bool inverts_f32(std::uint64_t a, std::uint64_t) { return ((low(a) + 0x1800000) & 0x7f800000) > 0x1ffffff; }

// IADD3 x -0xd000000; ISETP.GT.U32 0x727fffff
bool roots_f32(std::uint64_t a, std::uint64_t) { return low(a) - 0xd000000 <= 0x727fffff; }

// FSETP.GEU |a.hi| 0x03600000; FFMA RZ b.hi q.hi; FSETP.GT |that| 0x00100000
bool divides_f64(std::uint64_t a, std::uint64_t b) {
  const auto quotient = std::bit_cast<std::uint64_t>(std::bit_cast<double>(a) / std::bit_cast<double>(b));
  const float sum = std::fma(0.0f, as_float(high(b)), as_float(high(quotient)));
  return !(std::abs(as_float(high(a))) < as_float(0x03600000)) && std::abs(sum) > as_float(0x00100000);
}

// IADD3 a.hi 0x300402; FSETP.GEU |that| 0x00400402
bool inverts_f64(std::uint64_t a, std::uint64_t) {
  return !(std::abs(as_float(high(a) + 0x300402)) < as_float(0x00400402));
}

// IADD3 a.hi -0x3500000; ISETP.GE.U32 0x7ca00000
bool roots_f64(std::uint64_t a, std::uint64_t) { return high(a) - 0x3500000 < 0x7ca00000; }

template <bool (*kUsual)(std::uint64_t, std::uint64_t), unsigned kSources>
LaneMask others(const LaneArgs& args) {
  LaneMask found = 0;
  for_lanes(args.mask, [&](int l) {
    const bool usual = kUsual(args.src[0]->lane[l], args.src[kSources - 1]->lane[l]);
    found |= LaneMask{!usual} << l;
  });
  return found;
}

}  // namespace

SlowPathFn slow_path(const ptx::Form& form) {
  const bool f64 = form.type() == ptx::Type::kF64;
  if ((!f64 && form.type() != ptx::Type::kF32) || form.has(ptx::Mod::kApprox) || form.has(ptx::Mod::kFull))
    return nullptr;
  switch (form.op) {
    case ptx::Opcode::kDiv:
      return f64 ? others<divides_f64, 2> : others<divides_f32, 2>;
    case ptx::Opcode::kRcp:
      return f64 ? others<inverts_f64, 1> : others<inverts_f32, 1>;
    case ptx::Opcode::kSqrt:
      return f64 ? others<roots_f64, 1> : others<roots_f32, 1>;
    default:
      return nullptr;
  }
}

}  // namespace lockstep::exec
