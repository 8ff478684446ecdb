// PTX forms of asynchronous work: copies, mbarriers, products of warpgroups. Opcodes: NVIDIA "CUDA Binary
// Utilities", Hopper's instruction set.
#include <fmt/format.h>

#include <algorithm>

#include "lower/builder.hpp"

namespace lockstep::lower {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

namespace {
constexpr unsigned kWordBytes = 8;  // of what a record says beside addresses
}

bool Builder::asynchronous_form(const Instruction& i) {
  switch (i.op()) {
    case Opcode::kCp:
      return copy_async(i), true;
    case Opcode::kMbarrier:
      return mbarrier(i), true;
    case Opcode::kWgmma:
      return warpgroup(i), true;
    case Opcode::kTensormap:
      return emit("UTMACCTL.IV", {}, places(i.operands[0])), true;
    case Opcode::kGriddepcontrol:
      return emit(i.has(Mod::kWait) ? "ACQBULK" : "PREEXIT", {}, {}), true;
    default:
      return false;
  }
}

void Builder::copy_async(const Instruction& i) {
  if (i.has(Mod::kMbarrier))
    return emit("ARRIVES.LDGSTSBAR.64.EVENTS", {}, places(i.operands[0]), kWordBytes, Carries::kFirst);
  if (i.has(Mod::kCommitGroup)) return emit(i.has(Mod::kBulk) ? "UTMACMDFLUSH" : "LDGDEPBAR", {}, {});
  if (i.has(Mod::kWaitGroup) || i.has(Mod::kWaitAll)) {
    const bool count = !i.operands.empty() && i.operands[0].kind == OperandKind::kImmediate;
    return emit("DEPBAR.LE", {}, {}, 0, Carries::kNothing,
                count ? static_cast<std::int64_t>(i.operands[0].bits) : 0);
  }
  if (i.has(Mod::kBulk)) return bulk_copy(i);
  const unsigned bytes = i.operands.size() > 2 && i.operands[2].kind == OperandKind::kImmediate
                             ? static_cast<unsigned>(i.operands[2].bits)
                             : 16;
  auto sources = places(i.operands[0]);
  for (const std::uint8_t p : places(i.operands[1])) sources.push_back(p);
  emit(fmt::format("LDGSTS.E{}{}{}", i.has(Mod::kCg) ? ".BYPASS" : "",
                   bytes == 8    ? ".64"
                   : bytes == 16 ? ".128"
                                 : "",
                   policy_suffix(i)),
       {}, sources, bytes, Carries::kFirst);
}

/// .RUNS: the record says which bytes of global memory are moved, or prefetched (trace/bulk_runs.hpp).
void Builder::bulk_copy(const Instruction& i) {
  const bool tensor = i.has(Mod::kTensor), store = i.form.space() == ptx::Space::kGlobal;
  if (i.has(Mod::kPrefetch))
    return emit((tensor ? "UTMAPF.RUNS" : "UBLKPF.RUNS") + policy_suffix(i), {}, {}, kWordBytes,
                Carries::kFirst);
  const bool between =
      !tensor && i.form.spaces[0] == ptx::Space::kSharedCluster && i.form.spaces[1] != ptx::Space::kGlobal;
  const std::string opcode = tensor ? (i.has(Mod::kReduce) ? "UTMAREDG"
                                       : store             ? "UTMASTG"
                                                           : "UTMALDG")
                                    : fmt::format("{}.{}", i.has(Mod::kReduce) ? "UBLKRED" : "UBLKCP",
                                                  store     ? "G.S"
                                                  : between ? "S.S"
                                                            : "S.G");
  emit(opcode + ".RUNS" + policy_suffix(i), {}, {}, kWordBytes, Carries::kFirst);
}

/// .EVENTS: the record says which mbarrier, and how many events.
void Builder::mbarrier(const Instruction& i) {
  const bool tests = i.has(Mod::kTestWait) || i.has(Mod::kTryWait);
  const bool arrives = i.has(Mod::kArrive) || i.has(Mod::kArriveDrop);
  const bool has_result = tests || arrives || i.has(Mod::kPendingCount);
  std::vector<std::uint8_t> sources;
  for (std::size_t o = has_result ? 1 : 0; o < i.operands.size(); ++o)
    for (const std::uint8_t p : places(i.operands[o])) sources.push_back(p);
  if (i.has(Mod::kPendingCount)) return emit("LOP3.LUT", places(i.operands[0]), sources);
  if (tests) return emit("SYNCS.PHASECHK.TRANS64.TRYWAIT.EVENTS", {}, sources, kWordBytes, Carries::kFirst);
  if (arrives)
    return emit("SYNCS.ARRIVE.TRANS64.EVENTS", places(i.operands[0]), sources, kWordBytes, Carries::kFirst);
  emit(i.has(Mod::kInit)    ? "SYNCS.EXCH.64"
       : i.has(Mod::kInval) ? "SYNCS.CCTL.IV"
                            : "SYNCS.ARRIVE.TRANS64",
       {}, sources);
}

/// The end of a group is a bit of its last product.
void Builder::close_products() {
  constexpr std::size_t kFurthest = 16;  // instructions between the two
  auto& all = code_.instructions_;
  for (std::size_t back = 1; back <= std::min(kFurthest, all.size()); ++back) {
    std::string& text = all[all.size() - back].text;
    const std::size_t at = text.find("GMMA.");
    if (at == std::string::npos) continue;
    return void(text.insert(text.find(' ', at), ".GSB"));
  }
}

/// One machine instruction for a product: its parts go through the tensor core one after another there.
void Builder::warpgroup(const Instruction& i) {
  if (i.has(Mod::kFence)) return emit("WARPGROUP.ARRIVE", {}, {});
  if (i.has(Mod::kCommitGroup)) return close_products();
  if (i.has(Mod::kWaitGroup)) {
    const bool count = !i.operands.empty() && i.operands[0].kind == OperandKind::kImmediate;
    return emit("WARPGROUP.DEPBAR.LE", {}, {}, 0, Carries::kNothing,
                count ? static_cast<std::int64_t>(i.operands[0].bits) : 0);
  }
  const ptx::Type a = i.form.types[1], b = i.form.types[2];
  const auto upper = [](ptx::Type type) {
    std::string text(ptx::name(type));
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
  };
  const bool integer = a == ptx::Type::kS8 || a == ptx::Type::kU8;
  std::string opcode = a == ptx::Type::kB1 ? "BGMMA"
                       : integer           ? "IGMMA"
                       : ptx::bits(a) == 8 ? "QGMMA"
                                           : "HGMMA";
  if (i.has(Mod::kSp)) opcode += ".SP";
  opcode += fmt::format(".{}x{}x{}", i.form.shape.m, i.form.shape.n, i.form.shape.k);
  if (a == ptx::Type::kB1)
    opcode += ".AND.POPC";
  else if (integer)
    opcode += "." + upper(a) + "." + upper(b);
  else
    opcode += "." + upper(i.form.type()) +
              (a == ptx::Type::kF16 ? ""
               : ptx::bits(a) == 8  ? "." + upper(a) + "." + upper(b)
                                    : "." + upper(a));
  const auto results = places(i.operands[0]);
  auto sources =
      i.operands[1].kind == OperandKind::kVector ? places(i.operands[1]) : std::vector<std::uint8_t>{};
  sources.resize(std::min<std::size_t>(sources.size(), 1));
  if (!results.empty()) sources.push_back(results.front());
  emit(opcode, results.empty() ? results : std::vector{results.front()}, sources);
}

}  // namespace lockstep::lower
