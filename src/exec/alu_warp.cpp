// Warp-level operations ("PTX ISA 9.0", 9.7.9 and 9.7.13): shfl vote match redux activemask elect. The lanes
// that take part are those of LaneArgs::present that the member mask names; the member mask is the first
// active lane's.
#include <algorithm>

#include "exec/alu_families.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec::alu {
namespace {

template <class PerLane>
void each(u32 mask, PerLane per_lane) {
  for (; mask != 0; mask &= mask - 1) per_lane(std::countr_zero(mask));
}
u32 word(const LaneValues* operands, int lane) { return static_cast<u32>(operands->lane[lane]); }
int first_lane(u32 mask) { return std::countr_zero(mask) & (kLanes - 1); }
u32 members(const LaneArgs& args, int source) {
  return args.present & word(args.src[source], first_lane(args.mask));
}
void put(LaneValues* dst, int lane, u64 value) {
  if (dst) dst->lane[lane] = value;
}

enum Shuffle : u64 { kUp, kDown, kBfly, kIdx };

void shfl(const LaneArgs& args, u64 mode) {
  const LaneValues& source =
      *args.src[0];  // the destination may be the same register: results are kept first
  const LaneValues *b = args.src[1], *c = args.src[2];
  u32 in_range = 0;
  u64 value[kLanes];
  each(args.mask, [&](int lane) {
    const int offset = static_cast<int>(word(b, lane) & 31), clamp = static_cast<int>(word(c, lane) & 31);
    const int segment = static_cast<int>(word(c, lane) >> 8 & 31);
    const int low = lane & segment, high = low | (clamp & ~segment);
    const int from = mode == kUp     ? lane - offset
                     : mode == kDown ? lane + offset
                     : mode == kBfly ? lane ^ offset
                                     : low | (offset & ~segment);
    const bool valid = mode == kUp ? from >= high : from <= high;
    if (valid) in_range |= 1u << lane;
    const int given = valid ? from : lane;
    // The ISA leaves open what a lane that takes no part contributes; programs made for the hardware rely
    // on 0.
    value[lane] = (args.present >> given & 1) != 0 ? static_cast<u32>(source.lane[given]) : 0;
  });
  each(args.mask, [&](int lane) {
    put(args.dst[0], lane, value[lane]);
    put(args.dst[1], lane, in_range >> lane & 1);
  });
}

// The constant of vote: mode, whether there is a member mask, whether the predicate is negated.
enum Vote : u64 { kAll, kAny, kUni, kBallot };
constexpr u64 kMembers = 4, kNegated = 8;

void vote(const LaneArgs& args, u64 how) {
  const u32 lanes = (how & kMembers) != 0 ? members(args, 1) : args.mask;
  u32 ballot = 0;
  each(lanes, [&](int lane) { ballot |= (word(args.src[0], lane) & 1) << lane; });
  if ((how & kNegated) != 0) ballot = ~ballot & lanes;
  const u64 mode = how & 3;
  const u64 result = mode == kAll   ? ballot == lanes
                     : mode == kAny ? ballot != 0
                     : mode == kUni ? ballot == 0 || ballot == lanes
                                    : u64{ballot};
  each(args.mask, [&](int lane) { put(args.dst[0], lane, result); });
}

/// `all`: match.all, otherwise match.any. A lane that the member mask does not name learns the same of the
/// named ones as they do: PTX leaves it open, programs made for the hardware rely on it.
template <class T>
void match(const LaneArgs& args, u64 all) {
  const u32 lanes = members(args, 1);
  u32 equal[kLanes] = {};  // named lanes with the lane's value
  each(args.mask | lanes, [&](int lane) {
    const T value = static_cast<T>(args.src[0]->lane[lane]);
    each(lanes, [&](int other) {
      if (static_cast<T>(args.src[0]->lane[other]) == value) equal[lane] |= 1u << other;
    });
  });
  const bool every = lanes == 0 || equal[first_lane(lanes)] == lanes;
  each(args.mask, [&](int lane) {
    put(args.dst[0], lane, all == 0 ? equal[lane] : every ? lanes : 0);
    put(args.dst[1], lane, every);
  });
}

template <class T>
T fold(Mod op, T a, T b) {
  switch (op) {
    case Mod::kAdd:
      return static_cast<T>(static_cast<u32>(a) + static_cast<u32>(b));
    case Mod::kMin:
      return std::min(a, b);
    case Mod::kMax:
      return std::max(a, b);
    case Mod::kAnd:
      return a & b;
    case Mod::kOr:
      return a | b;
    default:
      return a ^ b;
  }
}
template <class T>
void redux(const LaneArgs& args, u64 op) {
  const u32 lanes = members(args, 1);
  bool first = true;
  T result{};
  each(lanes, [&](int lane) {
    const T value = static_cast<T>(args.src[0]->lane[lane]);
    result = first ? value : fold(static_cast<Mod>(op), result, value);
    first = false;
  });
  each(args.mask, [&](int lane) { put(args.dst[0], lane, static_cast<u32>(result)); });
}

// The constant of redux on f32: maximum or minimum, of magnitudes, NaN where any is one.
enum ReduxFloat : u64 { kMaximum = 1, kMagnitudes = 2, kAnyNan = 4 };
void redux_float(const LaneArgs& args, u64 how) {
  constexpr u32 kNan = 0x7fffffff, kSign = 0x80000000;
  const auto key = [](u32 bits) { return (bits & kSign) != 0 ? ~bits : bits | kSign; };  // orders -0 below 0
  u32 best = kNan;
  bool any_nan = false;
  each(members(args, 1), [&](int lane) {
    const u32 bits = (how & kMagnitudes) != 0 ? word(args.src[0], lane) & ~kSign : word(args.src[0], lane);
    const bool nan = (bits & ~kSign) > 0x7f800000;
    any_nan |= nan;
    const bool better = (how & kMaximum) != 0 ? key(bits) > key(best) : key(bits) < key(best);
    if (!nan && (best == kNan || better)) best = bits;
  });
  if (any_nan && (how & kAnyNan) != 0) best = kNan;
  each(args.mask, [&](int lane) { put(args.dst[0], lane, best); });
}

void activemask(const LaneArgs& args, u64) {
  each(args.mask, [&](int lane) { put(args.dst[0], lane, args.mask); });
}

void elect(const LaneArgs& args, u64) {
  const u32 lanes = members(args, 0);
  const int leader = first_lane(lanes != 0 ? lanes : args.mask);
  each(args.mask, [&](int lane) {
    put(args.dst[0], lane, static_cast<u64>(leader));
    put(args.dst[1], lane, lane == leader);
  });
}

constexpr Kernel warp_kernel(LaneFn fn, int destinations, int sources) {
  return {fn, fn, destinations, sources};
}

LaneOp select_shfl(const Form& form) {
  constexpr ModBit kMods[] = {
      {Mod::kSync, 16}, {Mod::kUp, 1}, {Mod::kDown, 2}, {Mod::kBfly, 4}, {Mod::kIdx, 8}};
  const unsigned bits = form.only(kMods), mode = bits & 15;
  if (std::popcount(mode) != 1 || form.type() != Type::kB32)
    form.fail("expected .up, .down, .bfly or .idx and .b32");
  return form.use(warp_kernel(&shfl, 2, (bits & 16) != 0 ? 4 : 3), static_cast<u64>(std::countr_zero(mode)));
}

LaneOp select_vote(const Form& form) {
  constexpr ModBit kMods[] = {
      {Mod::kSync, 16}, {Mod::kAll, 1}, {Mod::kAny, 2}, {Mod::kUni, 4}, {Mod::kBallot, 8}};
  const unsigned bits = form.only(kMods), mode = bits & 15;
  const bool sync = (bits & 16) != 0;
  if (std::popcount(mode) != 1 || form.type() != (mode == 8 ? Type::kB32 : Type::kPred))
    form.fail("expected .all, .any, .uni and .pred, or .ballot and .b32");
  const u64 how = static_cast<u64>(std::countr_zero(mode)) | (sync ? kMembers : 0) |
                  (form.source(0).negated ? kNegated : 0);
  return form.use(warp_kernel(&vote, 1, sync ? 2 : 1), how);
}

LaneOp select_match(const Form& form) {
  constexpr ModBit kMods[] = {{Mod::kSync, 4}, {Mod::kAny, 1}, {Mod::kAll, 2}};
  const unsigned bits = form.only(kMods);
  const bool wide = form.type() == Type::kB64;
  if ((bits != 5 && bits != 6) || (!wide && form.type() != Type::kB32)) form.fail("no such match");
  return form.use(warp_kernel(wide ? &match<u64> : &match<u32>, bits == 6 ? 2 : 1, 2), bits == 6 ? 1 : 0);
}

LaneOp select_redux_float(const Form& form) {
  constexpr ModBit kMods[] = {{Mod::kMax, kMaximum},
                              {Mod::kAbs, kMagnitudes},
                              {Mod::kNaN, kAnyNan},
                              {Mod::kSync, 8},
                              {Mod::kMin, 16}};
  const unsigned bits = form.only(kMods);
  if ((bits & 8) == 0 || ((bits & kMaximum) != 0) == ((bits & 16) != 0)) form.fail("no such redux");
  return form.use(warp_kernel(&redux_float, 1, 2), bits & 7);
}

LaneOp select_redux(const Form& form) {
  if (form.type() == Type::kF32) return select_redux_float(form);
  constexpr ModBit kMods[] = {{Mod::kSync, 64}, {Mod::kAdd, 1}, {Mod::kMin, 2}, {Mod::kMax, 4},
                              {Mod::kAnd, 8},   {Mod::kOr, 16}, {Mod::kXor, 32}};
  const unsigned bits = form.only(kMods), op = bits & 63;
  const bool logic = op >= 8;
  const bool fits =
      logic ? form.type() == Type::kB32 : form.type() == Type::kU32 || form.type() == Type::kS32;
  if (std::popcount(op) != 1 || (bits & 64) == 0 || !fits) form.fail("no such redux");
  const Mod mod = kMods[1 + std::countr_zero(op)].mod;
  return form.use(warp_kernel(form.type() == Type::kS32 ? &redux<s32> : &redux<u32>, 1, 2),
                  static_cast<u64>(mod));
}

}  // namespace

LaneOp select_warp(const Form& form) {
  switch (form.opcode()) {
    case Opcode::kShfl:
      return select_shfl(form);
    case Opcode::kVote:
      return select_vote(form);
    case Opcode::kMatch:
      return select_match(form);
    case Opcode::kRedux:
      return select_redux(form);
    case Opcode::kElect:
      return form.use(warp_kernel(&elect, 2, 1));
    default:
      return form.use(warp_kernel(&activemask, 1, 0));
  }
}

}  // namespace lockstep::exec::alu
