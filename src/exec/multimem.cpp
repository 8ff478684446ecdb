#include "exec/multimem.hpp"

#include <cmath>

#include "exec/alu_product.hpp"
#include "exec/alu_rounding.hpp"
#include "exec/decode.hpp"

namespace lockstep::exec {

namespace {

using namespace alu;
using ptx::Mod;
using ptx::Type;

constexpr u64 float_bits(float x) { return std::bit_cast<u32>(is_nan(x) ? canonical(x) : x); }

// .acc::f32: one or two 16-bit numbers as as many of 32 bits.
template <bool kBfloat>
u64 widen_pair(u64 bits) {
  const auto wide = [](u64 half) {
    const auto low = static_cast<u16>(half);
    return float_bits(kBfloat ? bf16_to_float(low) : half_to_float(low));
  };
  return wide(bits) | wide(bits >> 16) << 32;
}
template <bool kBfloat>
u64 narrow_pair(u64 bits) {
  const auto narrow = [](u64 wide) -> u64 {
    const double x = std::bit_cast<float>(static_cast<u32>(wide));
    return kBfloat ? round_to_16<7, 127>(x) : round_to_16<10, 15>(x);
  };
  return narrow(bits) | narrow(bits >> 32) << 16;
}
u64 add_pair(u64 a, u64 b, u64) {
  const auto sum = [](u64 x, u64 y) {
    return float_bits(std::bit_cast<float>(static_cast<u32>(x)) + std::bit_cast<float>(static_cast<u32>(y)));
  };
  return sum(a, b) | sum(a >> 32, b >> 32) << 32;
}

// Up to four 8-bit numbers as as many of f16, which hold them exactly.
template <class F>
u64 for_four(unsigned to, F&& f) {
  u64 all = 0;
  for (unsigned i = 0; i < 4; ++i) all |= u64{f(i)} << (i * to);
  return all;
}
template <int kMantissa>
u64 widen_four(u64 bits) {
  return for_four(16, [&](unsigned i) {
    return round_to_16<10, 15>(fp8_to_float<kMantissa>(static_cast<u32>(bits >> (8 * i)) & 0xff));
  });
}
template <int kMantissa>
u64 narrow_four(u64 bits) {
  return for_four(8, [&](unsigned i) {
    const double x = half_to_float(static_cast<u16>(bits >> (16 * i)));
    return static_cast<u8>(round_double(x, kMantissa == 3 ? kSpecE4m3 : kSpecE5m2, Round::kNearest));
  });
}

template <Fold kFold>
u64 fold_four(u64 a, u64 b, u64) {
  return for_four(16, [&](unsigned i) {
    const double x = half_to_float(static_cast<u16>(a >> (16 * i))),
                 y = half_to_float(static_cast<u16>(b >> (16 * i)));
    return round_to_16<10, 15>(kFold == Fold::kAdd ? x + y : min_or_max(x, y, kFold == Fold::kMin));
  });
}

template <int kMantissa>
std::optional<MultimemReduction> of_bytes(const ptx::Form& form) {
  const auto with = [](MultimemReduction::Fold fold) {
    return MultimemReduction{fold, widen_four<kMantissa>, narrow_four<kMantissa>};
  };
  if (form.has(Mod::kAdd)) return with(fold_four<Fold::kAdd>);
  if (form.has(Mod::kMin)) return with(fold_four<Fold::kMin>);
  if (form.has(Mod::kMax)) return with(fold_four<Fold::kMax>);
  return std::nullopt;
}

std::optional<MultimemReduction> in_float(Type type) {
  if (type == Type::kF16 || type == Type::kF16x2)
    return MultimemReduction{add_pair, widen_pair<false>, narrow_pair<false>};
  if (type == Type::kBf16 || type == Type::kBf16x2)
    return MultimemReduction{add_pair, widen_pair<true>, narrow_pair<true>};
  return std::nullopt;
}

}  // namespace

std::optional<MultimemReduction> multimem_reduction(const ptx::Form& form) {
  const Type type = form.last_type();
  if (type == Type::kE4m3x2 || type == Type::kE4m3x4) return of_bytes<3>(form);
  if (type == Type::kE5m2x2 || type == Type::kE5m2x4) return of_bytes<2>(form);
  if (form.has(Mod::kAccF32)) return form.has(Mod::kAdd) ? in_float(type) : std::nullopt;
  const auto fold = atomic_function(form, false);
  if (!fold || !*fold) return std::nullopt;
  return MultimemReduction{*fold};
}

}  // namespace lockstep::exec
