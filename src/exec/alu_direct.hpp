// Lane kernels of hosts with AVX-512 for what programs do most, on LaneValues as they are: eight lanes a
// vector, with 32-bit values in the low halves of its elements. Loops over 32-bit values pack and unpack
// them, which takes longer than the operation. The bits are those of the scalar function.
#pragma once

#include "exec/alu_lanes.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace lockstep::exec::alu {

/// Where a register of 32 bits is, in elements of that size.
inline constexpr __mmask16 kLowHalves = 0x5555;

/// A direct operation has `kSources`, `step()`, which gives the results of eight lanes, and `undecided()`,
/// which is not 0 where the scalar function may give any of them other bits: for NaNs.
struct DirectFloat {
  LOCKSTEP_WIDEST static unsigned undecided(__m512i result) {
    const __m512 value = _mm512_castsi512_ps(result);
    return _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
  }
};
struct DirectDouble {
  LOCKSTEP_WIDEST static unsigned undecided(__m512i result) {
    const __m512d value = _mm512_castsi512_pd(result);
    return _mm512_cmp_pd_mask(value, value, _CMP_UNORD_Q);
  }
};
struct DirectInteger {
  LOCKSTEP_WIDEST static unsigned undecided(__m512i) { return 0; }
};

template <int kCount>
using Vectors = const __m512i (&)[kCount];
LOCKSTEP_WIDEST inline __m512 floats(__m512i v) { return _mm512_castsi512_ps(v); }
LOCKSTEP_WIDEST inline __m512d doubles(__m512i v) { return _mm512_castsi512_pd(v); }

struct DirectAddF32 : DirectFloat {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) {
    return _mm512_castps_si512(_mm512_maskz_add_ps(kLowHalves, floats(s[0]), floats(s[1])));
  }
};
struct DirectAddF64 : DirectDouble {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) {
    return _mm512_castpd_si512(_mm512_add_pd(doubles(s[0]), doubles(s[1])));
  }
};
struct DirectSubF32 : DirectFloat {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) {
    return _mm512_castps_si512(_mm512_maskz_sub_ps(kLowHalves, floats(s[0]), floats(s[1])));
  }
};
struct DirectSubF64 : DirectDouble {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) {
    return _mm512_castpd_si512(_mm512_sub_pd(doubles(s[0]), doubles(s[1])));
  }
};
struct DirectMulF32 : DirectFloat {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) {
    return _mm512_castps_si512(_mm512_maskz_mul_ps(kLowHalves, floats(s[0]), floats(s[1])));
  }
};
struct DirectMulF64 : DirectDouble {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) {
    return _mm512_castpd_si512(_mm512_mul_pd(doubles(s[0]), doubles(s[1])));
  }
};
struct DirectFmaF32 : DirectFloat {
  static constexpr int kSources = 3;
  LOCKSTEP_WIDEST static __m512i step(Vectors<3> s) {
    return _mm512_castps_si512(_mm512_maskz_fmadd_ps(kLowHalves, floats(s[0]), floats(s[1]), floats(s[2])));
  }
};
struct DirectFmaF64 : DirectDouble {
  static constexpr int kSources = 3;
  LOCKSTEP_WIDEST static __m512i step(Vectors<3> s) {
    return _mm512_castpd_si512(_mm512_fmadd_pd(doubles(s[0]), doubles(s[1]), doubles(s[2])));
  }
};
struct DirectAdd32 : DirectInteger {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) { return _mm512_maskz_add_epi32(kLowHalves, s[0], s[1]); }
};
struct DirectSub32 : DirectInteger {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) { return _mm512_maskz_sub_epi32(kLowHalves, s[0], s[1]); }
};
struct DirectMulLo32 : DirectInteger {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) {
    return _mm512_maskz_mullo_epi32(kLowHalves, s[0], s[1]);
  }
};
struct DirectMadLo32 : DirectInteger {
  static constexpr int kSources = 3;
  LOCKSTEP_WIDEST static __m512i step(Vectors<3> s) {
    return _mm512_maskz_add_epi32(kLowHalves, _mm512_mullo_epi32(s[0], s[1]), s[2]);
  }
};
struct DirectAnd32 : DirectInteger {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) { return _mm512_maskz_and_epi32(kLowHalves, s[0], s[1]); }
};
struct DirectOr32 : DirectInteger {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) { return _mm512_maskz_or_epi32(kLowHalves, s[0], s[1]); }
};
struct DirectXor32 : DirectInteger {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) { return _mm512_maskz_xor_epi32(kLowHalves, s[0], s[1]); }
};
struct DirectMulWideU32 : DirectInteger {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) { return _mm512_mul_epu32(s[0], s[1]); }
};
struct DirectMulWideS32 : DirectInteger {
  static constexpr int kSources = 2;
  LOCKSTEP_WIDEST static __m512i step(Vectors<2> s) { return _mm512_mul_epi32(s[0], s[1]); }
};
struct DirectCopy32 : DirectInteger {
  static constexpr int kSources = 1;
  LOCKSTEP_WIDEST static __m512i step(Vectors<1> s) { return _mm512_maskz_mov_epi32(kLowHalves, s[0]); }
};

/// The kernel of direct operation Op, which is that of scalar function F.
template <class Op, auto F>
LOCKSTEP_WIDEST void lanes_direct(const LaneArgs& args, u64 immediate) {
  constexpr int kEach = 8, kVectors = kLanes / kEach;
  LaneValues* const to = args.dst[0];
  if (!to) return;
  __m512i result[kVectors];
  unsigned undecided = 0;
  for (int v = 0; v < kVectors; ++v) {
    __m512i source[Op::kSources];
    for (int i = 0; i < Op::kSources; ++i) source[i] = _mm512_load_si512(args.src[i]->lane + kEach * v);
    result[v] = Op::step(source);
    undecided |= Op::undecided(result[v]);
  }
  if (undecided != 0) return run_lanes<F, LaneWidth::kWidest>(args, immediate);
  if (args.mask != ~0u)
    for (int v = 0; v < kVectors; ++v)
      result[v] = _mm512_mask_mov_epi64(_mm512_load_si512(to->lane + kEach * v),
                                        static_cast<__mmask8>(args.mask >> kEach * v), result[v]);
  for (int v = 0; v < kVectors; ++v) _mm512_store_si512(to->lane + kEach * v, result[v]);
}

// Between an unnamed namespace's end and its next beginning: Op is the direct form of scalar function F.
#define LOCKSTEP_DIRECT(Op, ...) \
  template <>                    \
  inline constexpr LaneFn kDirect<&__VA_ARGS__::apply> = &lanes_direct<Op, &__VA_ARGS__::apply>;

}  // namespace lockstep::exec::alu
#else
#define LOCKSTEP_DIRECT(Op, ...)
#endif
