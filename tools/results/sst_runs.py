"""Section: the three runs on a V100 that SST-GPU's authors published."""
import json
import os
import tempfile

from .common import percent

TITLE = "Runs that SST-GPU published"
NEEDS_PROGRAMS = True

# SST-GPU report, Table 3: measured cycles on a V100, SST-GPU's error.
RUNS = [
    ("vectorAdd, 163,840 elements", ["vector_add", "163840"], 5271, 0.0909),
    ("lud, 256 x 256", ["lud", "-s", "256"], 494519, 0.2248),
    ("LULESH, size 22, 50 iterations", ["lulesh22"], 12454750, -0.0448),
]
MEASURED_SHARES = {"lud_diagonal": 63, "lud_perimeter": 22, "lud_internal": 14}

# Table 4: share of the issue slots of threads, in percent, nvprof.
KINDS = ["FP32", "FP64", "INT", "CTRL", "LS", "MISC", "INACTIVE"]
MIX = {
    "CalcFBHourglassForceForElems": [1, 10, 11, 10, 12, 31, 23],
    "CalcPressureForElems": [5, 17, 27, 2, 19, 16, 15],
    "CalcHourglassControlForElems": [0, 25, 21, 3, 38, 9, 1],
}
CONTROL = {"BRA", "EXIT", "BSSY", "BSYNC", "BREAK", "RET", "CALL", "WARPSYNC", "JMP"}
INTEGER = {"IADD3", "IMAD", "ISETP", "LOP3", "SHF", "LEA", "IMNMX", "BMSK", "PRMT", "POPC", "FLO", "IABS", "PLOP3", "SGXT"}


def kind_of(opcode):
    """nvprof's kind of an opcode: conversions, moves, selects, barriers and special registers are miscellaneous."""
    if opcode in CONTROL:
        return "CTRL"
    if opcode in INTEGER:
        return "INT"
    if opcode[:2] in ("LD", "ST") or opcode in ("ATOM", "ATOMG", "ATOMS", "RED"):
        return "LS"
    if opcode == "MUFU" or (opcode[0] == "F" and not opcode.startswith("F2")):
        return "FP32"
    return "FP64" if opcode[0] == "D" and opcode != "DEPBAR" else "MISC"


def mix(kernel):
    """Percent of the thread slots of a kernel of `lockstep info --json`, in the order of KINDS."""
    slots = 32 * kernel["instructions"]["warp"]
    counts = dict.fromkeys(KINDS, 0)
    for opcode, executed in kernel["opcodes"].items():
        counts[kind_of(opcode)] += executed["thread"]
    counts["INACTIVE"] = slots - kernel["instructions"]["thread"]
    return [round(100 * counts[k] / slots) for k in KINDS]


def short(name):
    """_Z12lud_diagonalPfii is lud_diagonal; a trailing _kernel goes."""
    for known in [*MEASURED_SHARES, *MIX]:
        if known in name and known + "2" not in name:
            return known
    return name


# Whether each kernel finds the caches as the one before left them. A profiler that replays kernels empties them, as the
# counters of a V100 show (section of small kernels); the publication does not say how its cycles were taken.
CACHES = [("kept", ("--set", "host.warms_l2=false")), ("emptied", ("--set", "launch.cache_control=all"))]


def shares_of(kernels):
    """Percent of the cycles of a run by kernel of lud."""
    cycles = sum(k["cycles"] for k in kernels)
    return {k: 100 * sum(x["cycles"] for x in kernels if short(x["name"]) == k) / cycles for k in MEASURED_SHARES}


def row(run, hardware):
    """Launches, cycles bare and with the launch floor with their errors."""
    kernels = run.stats["kernels"]
    bare = sum(k["cycles"] for k in kernels)
    with_floor = bare + sum(k["launch_cycles"] for k in kernels)
    return [len(kernels), *(x for c in (bare, with_floor) for x in (f"{c:,}", percent(c / hardware - 1)))]


def mixes_of(context, trace):
    seen = {}
    for kernel in json.loads(context.call("info", trace, "--json"))["kernels"]:
        if short(kernel["name"]) in MIX:
            seen.setdefault(short(kernel["name"]), mix(kernel))
    return [line for k, m in MIX.items() for line in ([k, "V100", *m], ["", "Lockstep", *seen[k]])]


def write(context, page):
    lines, shares, mixes = [], {}, []
    for name, command, hardware, published in RUNS:
        if not context.programs.has(command[0]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "program.lst")
            runs = {caches: context.programs.run("sst_v100", command, *options, "--threads", "2", "--record", trace)
                    for caches, options in CACHES}
            if command[0] == "lulesh22":
                mixes = mixes_of(context, trace)
        for caches, run in runs.items():
            launches, *figures = row(run, hardware)
            lines.append([name, launches, f"{hardware:,}", percent(published), caches, *figures])
        if command[0] == "lud":
            shares = shares_of(runs["kept"].stats["kernels"])
    page.text("Cycles of all kernels of a run on `sst_v100`, bare and with the launch floor of 1.24 us per kernel, which a",
              "profiler's cycles contain. The L2 is empty before the first kernel. Caches are kept from kernel to kernel, or emptied before",
              "each kernel, as by a profiler that replays kernels; it is not known which of the two was published. Programs: `nvcc -O3` of",
              "CUDA 13 (lud with its `-use_fast_math`), lowered from PTX; the published ones were built for Volta with a compiler",
              "of 2019.")
    page.table(["run", "launches", "V100", "SST-GPU's error", "caches", "Lockstep", "error", "with floor", "error"], lines)
    if shares:
        page.text("lud takes 4 to 6 % longer than it did when each sub-core had a branch unit of its own, which no row here speaks for: srad of Rodinia does.")
        page.text("Shares of lud's time, caches kept:")
        page.table(["", *MEASURED_SHARES], [["V100", *(f"{v} %" for v in MEASURED_SHARES.values())],
                                            ["Lockstep", *(f"{v:.0f} %" for v in shares.values())]])
        page.text("The published shares are probably those of different code (not verified, since no compiler of that time was available). CUDA 13",
                  "keeps the loops of diagonal and perimeter, each with 240 steps of two loads, an FFMA and a store in shared memory, so both",
                  "kernels take about the same time. At the latency of shared memory that is more than the 7,250 cycles of a published perimeter",
                  "kernel, launch included. An explanation would be that its loops were unrolled into registers, and those of the diagonal",
                  "(19,500 cycles) were not.")
    if mixes:
        page.text("Instruction mix of LULESH: percent of the issue slots of threads (nvprof; Lockstep's of the lowered code).")
        page.table(["kernel", "", *KINDS], mixes)
        page.text("LULESH's kernels execute about the published mix, with fewer control-flow instructions. Launch floor, cold caches and TLBs, and",
                  "the instructions do not explain why a launch took 8,896 cycles on average on the V100.")
