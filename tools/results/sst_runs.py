"""Section: the three runs on a V100 that SST-GPU's authors published."""
from .common import percent

TITLE = "Runs that SST-GPU published"
NEEDS_PROGRAMS = True

# SST-GPU report, Table 3: measured cycles on a V100, SST-GPU's error.
RUNS = [
    ("vectorAdd, 163,840 elements", ["vector_add", "163840"], 5271, 0.0909),
    ("lud, 256 x 256, 46 launches", ["lud", "-s", "256"], 494519, 0.2248),
    ("LULESH, size 22, 50 iterations", ["lulesh22"], 12454750, -0.0448),
]


def write(context, page):
    lines, shares = [], []
    for name, command, hardware, published in RUNS:
        if not context.programs.has(command[0]):
            continue
        kernels = context.programs.exec("sst_v100", command, "--set", "host.warms_l2=false")["kernels"]
        cycles = sum(k["cycles"] for k in kernels)
        floor = sum(k["launch_cycles"] for k in kernels)
        lines.append([name, len(kernels), f"{hardware:,}", percent(published), f"{cycles:,}",
                      percent(cycles / hardware - 1), percent((cycles + floor) / hardware - 1)])
        if command[0] == "lud":
            for kernel in sorted({k["name"] for k in kernels}):
                own = sum(k["cycles"] for k in kernels if k["name"] == kernel)
                shares.append(f"{kernel} {100 * own / cycles:.0f} %")
    page.text("Cycles of all kernels of a run, without and with the launch floor of 1.24 us a kernel.")
    page.table(["run", "launches", "V100", "SST-GPU's error", "Lockstep", "error", "error with the launch floor"], lines)
    if shares:
        page.text("Shares of lud's time: " + ", ".join(shares) + " (measured: diagonal 63 %, perimeter 22 %, internal 14 %).")
