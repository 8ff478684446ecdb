"""Section: Rodinia kernels on a V100 SXM2 and a QV100, cycles under a profiler that empties the caches."""
import csv
import os

from .common import error_summary, percent
from .programs import is_check

TITLE = "Rodinia 3.1 on a V100"
NEEDS_PROGRAMS = True

# Launch floor of the profiler, cycles: intercept of the empty kernels under ncu (h100_pcie_kernels.csv). The V100's
# table has no empty kernel; its shortest kernels, which move 1.8 MB at the speed of the DRAM, are 3,500 to 4,300 longer
# than the DRAM's time.
PROFILER_FLOOR = 3950

# Benchmark of the table: command, as the public accel-sim-framework's define-power.yml. Inputs that have to be files are
# generated at the same size: 1024 x 1024 random temperatures and powers, a 502 x 458 grey image, the keys 0..999999.
COMMANDS = {
    "backprop-rodinia-3.1": ["backprop", "65536"],
    "hotspot-rodinia-3.1": ["hotspot", "1024", "2", "2", "data/temp_1024", "data/power_1024", os.devnull],
    "srad_v1-rodinia-3.1": ["srad_v1", "1", "0.5", "502", "458"],
    "b+tree-rodinia-3.1": ["btree", "file", "data/mil.txt", "command", "data/command.txt"],
}
PRODUCTS = {"V100-SXM2-16GB(BranTran)": "v100_sxm2", "QV100(AccelWattch upstream)": "qv100"}


def demangled(name):
    """_Z8compresslPf is compress."""
    if not name.startswith("_Z"):
        return name
    digits = "".join(c for c in name[2:5] if c.isdigit())
    return name[2 + len(digits):2 + len(digits) + int(digits)]


def simulate(programs, gpu, command):
    """Kernel to the statistics of its launches, each with empty caches."""
    found = {}
    for kernel in programs.exec(gpu, command, "--set", "launch.cache_control=all")["kernels"]:
        found.setdefault(demangled(kernel["name"]), []).append(kernel)
    return found


def write(context, page):
    with open(context.measurements("v100_kernels.csv")) as f:
        table = list(csv.DictReader(f))
    lines, errors, bare, left_out = [], {False: [], True: []}, [], set()
    runs = {}
    for row in table:
        benchmark, gpu = row["benchmark"], PRODUCTS[row["gpu"]]
        command = COMMANDS.get(benchmark)
        if command is None or not context.programs.has(command[0]):
            left_out.add(benchmark)
            continue
        if (gpu, benchmark) not in runs:
            runs[gpu, benchmark] = simulate(context.programs, gpu, command)
        launches = runs[gpu, benchmark][demangled(row["kernel"])]
        cycles = sum(k["cycles"] for k in launches) / len(launches)
        hardware = float(row["Elapsed_Cycles"])
        error = (cycles + PROFILER_FLOOR) / hardware - 1
        check = is_check(row["gpu"] + row["kernel"])
        errors[check].append(error)
        bare.append(cycles / hardware - 1)
        reads = sum(k["dram"]["reads"] for k in launches) / len(launches)
        lines.append([gpu, benchmark.removesuffix("-rodinia-3.1"), demangled(row["kernel"]), f"{hardware:,.0f}",
                      f"{cycles:,.0f}", percent(error), "check" if check else "",
                      f"{float(row['DRAM_Rd']):,.0f}", f"{reads:,.0f}"])
    page.text("Cycles of one launch (mean of all launches of a run) against public measurements (v100_kernels.csv). The",
              "profiler emptied the caches before each launch - where a kernel reads what the one before wrote, the table",
              "has DRAM reads for all of it - and so do these runs (`launch.cache_control=all`). The measured cycles",
              f"contain the profiler's launch floor; the error counts ours with {PROFILER_FLOOR:,}, that of the H100's empty",
              "kernels under ncu. Registers are lowering's: CUDA 13 makes no machine code for a V100.")
    page.table(["GPU", "program", "kernel", "hardware", "Lockstep", "error with floor", "", "DRAM sectors read", "Lockstep"],
               lines)
    page.text(f"Rows that something may have been derived from. {error_summary(errors[False])}")
    page.text(f"Rows kept as a check (SHA-256 of GPU and kernel, first byte odd). {error_summary(errors[True])}")
    page.text(f"All: {error_summary(errors[False] + errors[True])} Without the floor: {error_summary(bare)}")
    if left_out:
        page.text("Left out, since their simulation takes minutes: " + ", ".join(sorted(left_out)) + ".")
