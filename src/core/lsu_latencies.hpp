// Latencies of memory operations: what is left of the configured ones behind the local queues.
#pragma once

#include <algorithm>

#include "config/gpu_config.hpp"
#include "util/types.hpp"

namespace lockstep::core {

/// All in core cycles. A configured latency counts from the cycle in which the operation enters its
/// sub-core's local queue; the rests from the cycle in which it leaves it.
struct LsuLatencies {
  /// Cycles that an operation stays in its local queue, operand read and address calculation: with
  /// queue_entries 4 the sixth of six LDS in a row issues 3 cycles after the fifth (A100 microbenchmark,
  /// Strelizia: 27 to 30 cycles).
  static constexpr Cycle kResidence = 7;
  /// What a miss takes in the SM beside a hit's latency: from the tags to the port and from the port to the
  /// array.
  static constexpr Cycle kMissPath = 6;
  /// A pass over the banks gives up to 128 bytes, which reach the registers at 512 bits per cycle (Huerta et
  /// al., MICRO 2025). The first pass's way is part of l1.hit_latency, each further one of a load takes this
  /// long. So a warp's 64-bit loads take two cycles more than those of one thread: gpu-latency with 64
  /// threads and with one on V100 (30, 28 cycles) and L40 (36, 34). Passes that bank conflicts make are no
  /// shorter: polybench's gesummv on an H100 (h100_pcie_kernels.csv, derived rows, one warp an SM, loads of
  /// 8, 16 and 32 lines in one bank) takes 2.0 cycles per line. The ways to the four sub-cores are side by
  /// side, so that the L1 gives one pass per cycle to several warps (gpu-strides).
  static constexpr Cycle kPassTransfer = 2;
  /// Wavefronts of one operation at most, with the narrowest data array.
  static constexpr Cycle kMaxWavefronts = 256;

  explicit LsuLatencies(const config::GpuConfig& c)
      : residence(std::min<Cycle>(kResidence,
                                  std::min({c.mio.shuffle_latency, c.mio.special_latency, c.mio.const_latency,
                                            c.l1.hit_latency, c.l1.shared_latency}))),
        hit_rest(c.l1.hit_latency - residence),
        shared_rest(c.l1.shared_latency - residence),
        shuffle_rest(c.mio.shuffle_latency - residence),
        special_rest(c.mio.special_latency - residence),
        const_rest(c.mio.const_latency - residence),
        longest(Cycle{c.mio.shuffle_latency} + c.mio.special_latency + c.mio.const_latency +
                c.mio.const_l15_latency + kWarpSize * Cycle{c.mio.const_pass_interval} + c.l1.hit_latency +
                c.l1.shared_latency + c.mio.texture_latency + kMissPath + kMaxWavefronts) {}

  Cycle residence;  // kResidence, or less where a latency is shorter
  Cycle hit_rest, shared_rest, shuffle_rest, special_rest, const_rest;
  Cycle longest;  // no result is further ahead
};

}  // namespace lockstep::core
