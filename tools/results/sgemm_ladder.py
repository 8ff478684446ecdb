"""Section: a public ladder of SGEMM kernels on an RTX A6000."""
from .common import percent

TITLE = "SGEMM, step by step, on an RTX A6000"
NEEDS_PROGRAMS = True

GPU, SIZE = "rtxa6000", 1024
# GFLOP/s at SIZE, read off the plot of the public repository siboehm/SGEMM_CUDA (benchmark_results.png).
PUBLISHED = {4: ("1D tiles", 6851), 5: ("2D tiles", 10055), 6: ("vector accesses", 11197), 9: ("autotuned", 13812),
             10: ("warp tiles", 12302), 11: ("two buffers", 14254)}
# Without what lowering does for such kernels.
WITHOUT = ("--without", "unroll", "--without", "merge")


def gflops(kernel):
    return 2 * SIZE ** 3 / kernel["elapsed_ns"]


def write(context, page):
    command = ["sgemm_ladder", "{}", str(SIZE), "1"]
    rows = []
    for number, (name, published) in PUBLISHED.items():
        command[1] = str(number)
        ours, plain = (context.programs.exec(GPU, command, *options)["kernels"][1] for options in ((), WITHOUT))
        rows.append([number, name, ours["grid"][0] * ours["grid"][1], f"{published:,}", f"{gflops(ours):,.0f}",
                     percent(gflops(ours) / published - 1), f"{gflops(plain):,.0f}"])
    page.text(f"Kernels of siboehm/SGEMM_CUDA (`nvcc -O3`, sm_86), C = A B of {SIZE} x {SIZE} floats, in GFLOP/s, beside the repository's plot,",
              "at the commit of the plot (4820c60: later ones have other tiles in kernel 11). `sgemm_ladder KERNEL SIZE REPEATS` is its runner (src, runner.cu)",
              "with a main program that checks the result of one launch and then launches the kernel again; the second launch counts. The last",
              "column is without the steps unroll and merge ([lowering](../lowering.md)).")
    page.table(["kernel", "what is new", "CTAs", "published", "Lockstep", "error", "without unroll and merge"], rows)
    page.text("Kernel 4 waits for shared memory most: all lanes of a warp load the same 16 bytes, which are two passes over the banks.")
