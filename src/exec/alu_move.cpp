// mov ("PTX ISA 9.0", 9.7.9): copies, and packing and unpacking of vectors.
#include "exec/alu_families.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec::alu {
namespace {

template <class T>
struct Copy {
  static constexpr T apply(T a) { return a; }
};

/// Calls per_lane(i) for each active lane.
template <class PerLane>
void each_lane(u32 mask, PerLane per_lane) {
  for (u32 rest = mask; rest != 0; rest &= rest - 1) per_lane(std::countr_zero(rest));
}

void copy_128(const LaneArgs& args, u64) {
  if (!args.dst[0]) return;
  each_lane(args.mask, [&](int i) {
    for (int half = 0; half < 2; ++half) args.dst[0][half].lane[i] = args.src[0][half].lane[i];
  });
}

// The constant of packing: elements and bits of each.
constexpr u64 shape(int elements, unsigned bits) { return static_cast<u64>(elements) << 8 | bits; }
constexpr u64 low(u64 value, unsigned bits) { return bits == 64 ? value : value & ((u64{1} << bits) - 1); }

void pack(const LaneArgs& args, u64 immediate) {
  const int elements = static_cast<int>(immediate >> 8);
  const unsigned bits = immediate & 0xff;
  if (!args.dst[0]) return;
  each_lane(args.mask, [&](int i) {
    u64 words[2] = {};
    for (int k = 0; k < elements; ++k) {
      const unsigned at = bits * static_cast<unsigned>(k);
      words[at / 64] |= low(args.src[k]->lane[i], bits) << (at % 64);
    }
    args.dst[0][0].lane[i] = words[0];
    if (bits * static_cast<unsigned>(elements) == 128) args.dst[0][1].lane[i] = words[1];
  });
}

void unpack(const LaneArgs& args, u64 immediate) {
  const int elements = static_cast<int>(immediate >> 8);
  const unsigned bits = immediate & 0xff;
  const bool two_words = bits * static_cast<unsigned>(elements) == 128;
  each_lane(args.mask, [&](int i) {
    const u64 words[2] = {args.src[0][0].lane[i], two_words ? args.src[0][1].lane[i] : 0};
    for (int k = 0; k < elements; ++k) {
      const unsigned at = bits * static_cast<unsigned>(k);
      if (args.dst[k]) args.dst[k]->lane[i] = low(words[at / 64] >> (at % 64), bits);
    }
  });
}

const Kernel& copy_of(unsigned bits) {
  static constexpr Kernel kCopies[] = {kernel<&Copy<bool>::apply>,   kernel<&Copy<u16>::apply>,
                                       kernel<&Copy<u32>::apply>,    kernel<&Copy<u64>::apply>,
                                       {&copy_128, &copy_128, 1, 1}, {}};
  return kCopies[bits == 1 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : bits == 128 ? 4 : 5];
}

}  // namespace

LaneOp select_move(const Form& form) {
  form.no_mods();
  const unsigned bits = ptx::bits(form.type());
  const int to = form.destinations(), from = form.sources();
  if (to == 1 && from == 1) return form.use(copy_of(bits));
  const int elements = to == 1 ? from : to;
  if ((to != 1 && from != 1) || (elements != 2 && elements != 4 && elements != 8) || bits < 16)
    form.fail("packs or unpacks 2, 4 or 8 elements");
  const LaneFn fn = to == 1 ? &pack : &unpack;
  return form.use({fn, fn, to, from}, shape(elements, bits / static_cast<unsigned>(elements)));
}

}  // namespace lockstep::exec::alu
