"""Accel-Sim as measured: dev branch of 2024-10-08 with GPGPU-Sim 4.2.0, release build, gcc 12, SM7_QV100, on a machine
of two cores; cycles, instructions and counts were the same in all of three runs. Hits: accesses - misses - pending
hits. Cycles are gpu_tot_sim_cycle less the 5000 launch cycles of each kernel.
"""
import collections

LAUNCH_CYCLES = 5000

# rate: warp instructions a second of CPU time; patched: how much faster it was with three small patches and jemalloc.
# l1, l2: accesses, hits, misses in sectors. dram: reads, writes of 32 bytes.
Row = collections.namedtuple("Row", "peer_trace kernels cycles warp_instructions rate patched cpu_seconds l1 l2 dram")


def _row(peer_trace, kernels, total_cycles, *rest):
    return Row(peer_trace, kernels, total_cycles - LAUNCH_CYCLES * kernels, *rest)


# By our name of the kernel; peer_trace is that of the generator with which Accel-Sim was fed.
MEASURED = {
    "streaming": _row("vectoradd-2560", 1, 13828, 307200, 14.10e3, 1.5, 21.6,
                      (245760, 0, 245760), (245760, 0, 245760), (163840, 8148)),
    "sgemm": _row("sgemm-640", 1, 48566, 4802560, 46.98e3, 1.29, 98.6,
                  (819200, 43222, 740136), (740136, 379260, 347648), (19968, 147200)),
    "random": _row("random-1280", 1, 72534, 107520, 0.52e3, 1.26, 200.4,
                   (532480, 24, 532433), (532433, 2194, 529721), (488761, 3492)),
    "chain": _row("tiny-2", 1, 203458, 43614, 1.51e3, 4.0, 28.5,
                  (3200, 3072, 128), (1664, 1536, 128), (64, 0)),
    "bfs-a100": _row("bfs-a100", 16, 122404, 159509, 8.54e3, 1.9, 18.6,
                     (90629, 65578, 23384), (32773, 27212, 5513), (4991, 0)),
    "vectoradd-a100": _row("vectoradd-a100", 1, 6204, 26601, 10.73e3, 1.4, 2.5,
                           (18750, 0, 18750), (18750, 0, 18750), (12500, 0)),
}
