// Extended-precision integer arithmetic ("PTX ISA 9.0", 9.7.2): add.cc addc sub.cc subc mad.cc madc. CC.CF is
// the carry of the machine's addition. A subtraction is the addition of the complement, so its carry is clear
// where it borrows: nvcc's division of 128-bit integers reads it with addc.
#include "exec/alu_families.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec::alu {
namespace {

constexpr u64 kCarryIn = 1, kCarryOut = 2;

template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// x + y + carry, which is 0 or 1 and becomes that of the sum.
template <class U>
U add_with_carry(U x, U y, u32& carry) {
  const U sum = static_cast<U>(x + y);
  const U result = static_cast<U>(sum + carry);
  carry = sum < x || result < sum ? 1 : 0;
  return result;
}

template <class U, bool kSubtract, class Left, class Right>
void carry_lanes(const LaneArgs& args, u64 flags, Left left, Right right) {
  for (u32 rest = args.mask; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    const u32 bit = 1u << i;
    u32 carry = kSubtract ? 1 : 0;
    if ((flags & kCarryIn) != 0) carry = (args.flags->carry & bit) != 0 ? 1 : 0;
    const U y = right(i);
    const U result = add_with_carry<U>(left(i), kSubtract ? static_cast<U>(~y) : y, carry);
    if (args.dst[0]) args.dst[0]->lane[i] = to_bits(result);
    if ((flags & kCarryOut) != 0) args.flags->carry = (args.flags->carry & ~bit) | (carry != 0 ? bit : 0);
  }
}

template <class T, bool kSubtract>
void add_lanes(const LaneArgs& args, u64 flags) {
  using U = Unsigned<T>;
  carry_lanes<U, kSubtract>(
      args, flags, [&](int i) { return from_bits<U>(args.src[0]->lane[i]); },
      [&](int i) { return from_bits<U>(args.src[1]->lane[i]); });
}

template <class T, bool kHigh>
void mad_lanes(const LaneArgs& args, u64 flags) {
  using U = Unsigned<T>;
  const auto product = [&](int i) {
    const u128 a = static_cast<u128>(s128{from_bits<T>(args.src[0]->lane[i])});
    const u128 b = static_cast<u128>(s128{from_bits<T>(args.src[1]->lane[i])});
    return static_cast<U>((a * b) >> (kHigh ? 8 * sizeof(T) : 0));
  };
  carry_lanes<U, false>(args, flags, product, [&](int i) { return from_bits<U>(args.src[2]->lane[i]); });
}

template <auto F>
constexpr Kernel scalar(int sources) {
  return {F, F, 1, sources};
}
template <bool kSubtract>
constexpr ByInteger add_kernels() {
  return {.u32 = scalar<&add_lanes<u32, kSubtract>>(2),
          .s32 = scalar<&add_lanes<s32, kSubtract>>(2),
          .u64 = scalar<&add_lanes<u64, kSubtract>>(2),
          .s64 = scalar<&add_lanes<s64, kSubtract>>(2)};
}
template <bool kHigh>
constexpr ByInteger mad_kernels() {
  return {.u32 = scalar<&mad_lanes<u32, kHigh>>(3),
          .s32 = scalar<&mad_lanes<s32, kHigh>>(3),
          .u64 = scalar<&mad_lanes<u64, kHigh>>(3),
          .s64 = scalar<&mad_lanes<s64, kHigh>>(3)};
}
constexpr ByInteger kAdd = add_kernels<false>();
constexpr ByInteger kSub = add_kernels<true>();
constexpr ByInteger kMadLo = mad_kernels<false>();
constexpr ByInteger kMadHi = mad_kernels<true>();

}  // namespace

LaneOp select_carry(const Form& form) {
  enum : unsigned { kOut = 1, kLo = 2, kHi = 4 };
  constexpr ModBit kModes[] = {{Mod::kCc, kOut}, {Mod::kLo, kLo}, {Mod::kHi, kHi}};
  const unsigned mode = form.only(kModes);
  const Opcode op = form.opcode();
  const bool in = op == Opcode::kAddc || op == Opcode::kSubc || op == Opcode::kMadc;
  const u64 flags = (in ? kCarryIn : 0) | ((mode & kOut) != 0 ? kCarryOut : 0);
  const bool multiply = op == Opcode::kMad || op == Opcode::kMadc;
  if (multiply != ((mode & (kLo | kHi)) != 0) || (mode & (kLo | kHi)) == (kLo | kHi))
    form.fail("no such form");
  const bool subtract = op == Opcode::kSub || op == Opcode::kSubc;
  const ByInteger& kernels = multiply ? ((mode & kHi) != 0 ? kMadHi : kMadLo) : subtract ? kSub : kAdd;
  return form.use(kernels.of(form.type()), flags);
}

}  // namespace lockstep::exec::alu
