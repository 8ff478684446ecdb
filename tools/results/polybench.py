"""Section: polybench on an H100 PCIe, kernel times under nsys."""
import os

from microbench_sm import h100_rows, parameters

from .common import error_summary, errors_of, percent
from .split import is_check

TITLE = "Polybench on an H100 PCIe"
NEEDS_PROGRAMS = True

# Largest size simulated: beyond it a run takes more than a minute, or all of them together too long.
LARGEST = {"2dconv": 1024, "2mm": 128, "3dconv": 96, "3mm": 128, "atax": 512, "bicg": 512, "gemm": 256, "gesummv": 512,
           "mvt": 512, "syrk": 256}


def rows(context):
    """(benchmark, block, size, nanoseconds, name of the row) of the table, in its order."""
    for row in h100_rows(os.path.join(context.data, "hw")):
        if row["suite"] == "polybench":
            p = parameters(row["params"])
            yield (row["benchmark"], p["blockDimX"], p["size"], float(row["total_kernel_ns"]),
                   row["benchmark"] + ";" + row["params"])


def simulate(programs, benchmark, block, size):
    """Sum of the kernels' times with the launch floor, in nanoseconds, and the number of kernels."""
    stats = programs.exec("h100_pcie", ["poly_" + benchmark, "-size", str(size), "-blockDimX", str(block)])
    return sum(k["elapsed_ns"] for k in stats["kernels"]), len(stats["kernels"])


def write(context, page):
    everything = list(rows(context))
    table, pairs, seen, left_out = {}, {False: [], True: []}, {}, 0
    sizes = sorted({size for benchmark, _, size, _, _ in everything if size <= LARGEST[benchmark]})
    for benchmark, block, size, hardware, name in everything:
        if size > LARGEST[benchmark] or not context.programs.has("poly_" + benchmark):
            left_out += 1
            continue
        ours, kernels = simulate(context.programs, benchmark, block, size)
        table.setdefault((benchmark, block), {})[size] = ours / hardware - 1
        pairs[is_check(name)].append((hardware, ours))
        seen[benchmark] = kernels
    page.text("Error of the total kernel time of a run, by size, against public measurements (h100_pcie_kernels.csv,",
              "programs of EnzeXu/GPU_Benchmarks; nsys). The simulated time is `elapsed_ns`, which includes 1.24 us per kernel, the intercept",
              "of the same table's empty kernels. Programs: `nvcc -O3` of CUDA 13 (PTX for compute_75).")
    page.table(["program", "block x", *map(str, sizes)],
               [[benchmark, block, *(percent(line[s]) if s in line else "" for s in sizes)]
                for (benchmark, block), line in sorted(table.items())])
    page.text(f"Calibration rows, from which parameters may have been derived. {error_summary(context.program, pairs[False])}")
    page.text(f"Rows kept as a check (FNV-1a of the row's name odd). {error_summary(context.program, pairs[True])}")
    both = pairs[False] + pairs[True]
    page.text(f"All: {error_summary(context.program, both)} Signed mean:",
              f"{percent(errors_of(context.program, both)['mean'])}.")
    page.text("What is left of atax, bicg, gesummv and mvt grows with the number of CTAs, from 1 % with four to 5 to 10 % with 32 and more.",
              "That would follow from SMs that are not equally far from the L2, as on an L40 (222 to 339 cycles, arXiv 2606.22588): the",
              "slowest ends the kernel. Here only the half of the L2 counts.")
    page.text(f"{left_out} rows of larger sizes are left out, since simulating them takes minutes in total.")
