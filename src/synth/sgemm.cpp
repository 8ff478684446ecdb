// Tiled C = A * B in FP32: a 64x64 tile of C per CTA of 256 threads, 4x4 per thread, 16 deep.
#include <array>
#include <span>

#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"tiles-x", "4", "CTAs in x: columns of C / 64", 1, 4096},
    {"tiles-y", "2", "CTAs in y: rows of C / 64", 1, 4096},
    {"ktiles", "2", "steps along k, of 16 each", 1, 4096},
    {"launches", "1", "how often the kernel is launched, over the same matrices", 1, 4096},
};

constexpr std::uint32_t kTile = 64, kDepth = 16, kThreads = 256, kPerThread = 4,
                        kWarps = kThreads / kWarpSize;
constexpr Address kSharedB = kTile * kDepth * 4;  // A's tile lies at 0

struct Matrices {
  Address a, b, c;
  std::uint64_t m, n, k;
};

using Lanes = std::array<Address, kWarpSize>;

/// f(thread of the CTA) for each lane of warp `k`.
template <class F>
Lanes lanes(std::uint32_t k, F f) {
  Lanes out{};
  for (std::uint32_t l = 0; l < kWarpSize; ++l) out[l] = f(std::uint64_t{k} * kWarpSize + l);
  return out;
}

/// Global to registers to shared memory: A row by row, transposed on the way; B as it is.
void emit_tile_copy(WarpText& w, const Matrices& x, std::uint32_t k, std::uint64_t bx, std::uint64_t by,
                    std::uint64_t kt) {
  const Lanes a = lanes(
      k, [&](std::uint64_t t) { return x.a + ((by * kTile + t / 4) * x.k + kt * kDepth + t % 4 * 4) * 4; });
  w.emit({.opcode = "LDG.E.128.SYS", .to = 32, .from = {48}, .access = listed(16, a)});
  const Lanes b = lanes(
      k, [&](std::uint64_t t) { return x.b + ((kt * kDepth + t / 16) * x.n + bx * kTile + t % 16 * 4) * 4; });
  w.emit({.opcode = "LDG.E.128.SYS", .to = 36, .from = {50}, .access = deltas(16, b)});
  for (std::uint32_t q = 0; q < 4; ++q) {
    const Lanes s = lanes(k, [&](std::uint64_t t) { return ((t % 4 * 4 + q) * kTile + t / 4) * 4; });
    w.emit({.opcode = "STS", .from = {52, static_cast<int>(32 + q)}, .access = listed(4, s)});
  }
  w.emit({.opcode = "STS.128", .from = {53, 36}, .access = strided(16, kSharedB + k * kWarpSize * 16, 16)});
  w.emit({.opcode = "BAR.SYNC"});
}

void emit_products(WarpText& w, std::uint32_t k) {
  for (std::uint32_t kk = 0; kk < kDepth; ++kk) {
    const Lanes a = lanes(k, [&](std::uint64_t t) { return (kk * kTile + t / 16 * 4) * 4; });
    w.emit({.opcode = "LDS.U.128", .to = 4, .from = {54}, .access = listed(16, a)});
    const Lanes b = lanes(k, [&](std::uint64_t t) { return kSharedB + (kk * kTile + t % 16 * 4) * 4; });
    w.emit({.opcode = "LDS.U.128", .to = 8, .from = {55}, .access = listed(16, b)});
    for (int i = 0; i < static_cast<int>(kPerThread); ++i)
      for (int j = 0; j < static_cast<int>(kPerThread); ++j) {
        const int sum = 16 + i * 4 + j;
        w.emit({.opcode = "FFMA", .to = sum, .from = {4 + i, 8 + j, sum}});
      }
  }
}

void emit_warp(WarpText& w, const Matrices& x, std::uint32_t k, std::uint64_t bx, std::uint64_t by) {
  emit_prologue(w);
  for (int r = 0; r < 8; ++r) w.emit({.opcode = "IMAD.MOV.U32", .to = 48 + r, .from = {kRz, kRz}});
  for (int r = 0; r < 16; ++r) w.emit({.opcode = "CS2R", .to = 16 + r});
  const std::uint32_t top = w.pc();
  const std::uint64_t steps = x.k / kDepth;
  for (std::uint64_t kt = 0; kt < steps; ++kt) {
    w.jump(top);
    emit_tile_copy(w, x, k, bx, by, kt);
    emit_products(w, k);
    w.emit({.opcode = "IADD3", .to = 48, .from = {48, kRz, kRz}});
    w.emit({.opcode = "IADD3", .to = 50, .from = {50, kRz, kRz}});
    w.emit({.opcode = "ISETP.GE.AND", .from = {48, 50}});
    w.emit({.opcode = "BAR.SYNC"});
    w.emit({.opcode = "BRA", .mask = kt + 1 < steps ? kAllLanes : 0});
  }
  for (std::uint32_t i = 0; i < kPerThread; ++i) {
    const Lanes c = lanes(k, [&](std::uint64_t t) {
      return x.c + ((by * kTile + t / 16 * 4 + i) * x.n + bx * kTile + t % 16 * 4) * 4;
    });
    w.emit({.opcode = "STG.E.128.SYS", .from = {56, static_cast<int>(16 + 4 * i)}, .access = deltas(16, c)});
  }
  w.emit({.opcode = "EXIT"});
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::uint32_t tx = options.number32("tiles-x"), ty = options.number32("tiles-y");
  Matrices x{};
  x.m = std::uint64_t{ty} * kTile;
  x.n = std::uint64_t{tx} * kTile;
  x.k = options.number("ktiles") * kDepth;
  // 128 MiB between the matrices, more where one is larger.
  std::uint64_t gap = 0x8000000;
  while (gap < x.m * x.k * 4 || gap < x.k * x.n * 4) gap *= 2;
  x.a = 0x7f9000000000;
  x.b = x.a + gap;
  x.c = x.b + gap;
  folder.copy_to_device(x.a, x.m * x.k * 4);
  folder.copy_to_device(x.b, x.k * x.n * 4);
  trace::KernelHeader header;
  header.name = "_Z5sgemmPKfS0_Pfiii";
  header.id = 1;
  header.grid = {tx, ty, 1};
  header.block = {kThreads, 1, 1};
  header.shared_bytes = 2 * kTile * kDepth * 4;
  header.registers = 64;
  KernelFile file = folder.kernel(header);
  for (std::uint32_t by = 0; by < ty; ++by)
    for (std::uint32_t bx = 0; bx < tx; ++bx) {
      file.begin_cta({bx, by, 0});
      for (std::uint32_t k = 0; k < kWarps; ++k) emit_warp(file.begin_warp(k), x, k, bx, by);
      file.end_cta();
    }
  file.close();
  for (std::uint64_t i = 1; i < options.number("launches"); ++i) folder.launch_again();
}

}  // namespace

const Kind kSgemm = {"sgemm", "tiled FP32 matrix product through shared memory", kOptions, generate};

}  // namespace lockstep::synth
