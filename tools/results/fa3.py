"""Section: FlashAttention-3's forward kernels on an H100."""
import csv

from .common import error_summary, percent

TITLE = "FlashAttention-3 on an H100"
NEEDS_PROGRAMS = True

GPU = "h100_sxm"
# NCU: the published clock, emptied caches.
CONDITIONS = ("--set", "clock.core_khz=1500MHz", "--set", "launch.cache_control=all")


def cases(path):
    with open(path) as f:
        for row in csv.DictReader(line for line in f if not line.startswith("#")):
            yield {**row, **{key: int(row[key]) for key in "BSHD"}}


def kernel_of(stats):
    return max(stats["kernels"], key=lambda kernel: kernel["cycles"])


def write(context, page):
    rows, pairs, rival = [], [], []
    for row in cases(context.measurements("fa3_h100_1500mhz.csv")):
        command = ["fa3_forward", *(str(row[key]) for key in "BSHD"), row["mask"]]
        kernel = kernel_of(context.programs.exec(GPU, command, *CONDITIONS))
        ours, measured, other = kernel["time_ns"] / 1000, float(row["ncu_us"]), float(row["flashgpu_sim_us"])
        pairs.append((measured, ours))
        rival.append((measured, other))
        rows.append([row["B"], row["S"], row["H"], row["D"], row["mask"], f"{measured:.2f}", f"{ours:.2f}", percent(ours / measured - 1),
                     percent(other / measured - 1)])
    page.text("Forward pass in fp16 (Dao-AILab/flash-attention, folder hopper, at d80a7710, CUTLASS 71275920; no clusters), built by",
              "`tools/build_fa3.py` with nvcc 13.0. Times in us beside those that NCU measured at 1500 MHz with emptied caches, as",
              "FlashGPU-Sim published them (docs/sass-frontend.md @580352d1, built by CUDA 13.3); the last column is that simulator's error.",
              "`fa3_forward B S H D MASK check` compares results with an attention of the host.")
    page.table(["B", "S", "H", "D", "mask", "measured", "Lockstep", "error", "FlashGPU-Sim"], rows)
    page.text(error_summary(context.program, pairs), "",
              "FlashGPU-Sim on the same rows: " + error_summary(context.program, rival))
    page.text("All rows take some 75 minutes of one core.",
              "No parameter was fitted to these rows; what was changed on the way to them are causes of their own (the design page's",
              "barriers, products of warpgroups and work taken from a counter), and the order and number of instructions that ptxas makes,",
              "for which its code of these kernels was read beside that of kernels of a few lines ([lowering](../lowering.md)).")
