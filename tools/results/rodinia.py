"""Section: Rodinia kernels on a V100 SXM2 and a GV100, busy and elapsed cycles under a profiler that empties the caches."""
import json
import os
import statistics
import tempfile

from command_line import table

from .common import error_summary, percent
from .split import is_check

TITLE = "Rodinia 3.1 on a V100"
NEEDS_PROGRAMS = True

# Both GPUs of the table.
SMS = 80

# Benchmark of the table: command, as the public accel-sim-framework's define-power.yml, but one iteration of srad. The
# folder of the programs must have data/ with Rodinia's files of these names (FindHao/rodinia has them; mil.txt is the count and
# the keys 0 to 999999), and no ../../../data/srad/image.pgm: Accel-Sim's scripts run the program where there is none.
COMMANDS = {
    "backprop-rodinia-3.1": ["backprop", "65536"],
    "hotspot-rodinia-3.1": ["hotspot", "1024", "2", "2", "data/temp_1024", "data/power_1024", os.devnull],
    "srad_v1-rodinia-3.1": ["srad_v1", "1", "0.5", "502", "458"],
    "b+tree-rodinia-3.1": ["btree", "file", "data/mil.txt", "command", "data/command.txt"],
    "kmeans-rodinia-3.1": ["kmeans", "-o", "-i", "data/819200.txt"],
}
# Simulated launches of a program whose launches are many and alike: invert_mapping and the first kmeansPoint.
LAUNCHES = {"kmeans": "1,2"}
# Pipes whose cycles the table's duty adds up (AccelWattch's public script: those of ALU, FMA, FP64, tensor cores and
# "shared", over 5 times the elapsed cycles) and the cycles of a warp instruction: 16 lanes of ALU and FMA in a sub-core; 8
# of FP64, whose cycles are taken to be those of "shared", too.
PIPES = [({"FFMA", "FMUL", "FADD", "IMAD"}, 2), ({"DADD", "DMUL", "DFMA", "DSETP"}, 4 + 4),
         ({"IADD3", "LOP3", "ISETP", "LEA", "SHF", "SEL", "FSETP", "FSEL", "FMNMX", "IMNMX", "IABS", "PLOP3", "MOV", "PRMT", "FCHK",
           "BMSK"}, 2)]
# GPU of the table: its model, and its core clock as the people who measured configure it (BranTran/accel-sim-framework,
# Tesla_V100-SXM2-16GB: 1312:1312:1312:877; SM7_GV100, AccelWattch's GPU: 1447:1447:1447:850).
GPUS = {"V100-SXM2-16GB(BranTran)": ("v100_sxm2", 1312), "QV100(AccelWattch upstream)": ("qv100", 1447)}
# Clock of L2 and crossbar, of the core's: as on the V100 of configs/v100.ini.
L2_CLOCK = 1200 / 1380


def demangled(name):
    """_Z8compresslPf is compress."""
    if not name.startswith("_Z"):
        return name
    digits = "".join(c for c in name[2:5] if c.isdigit())
    return name[2 + len(digits):2 + len(digits) + int(digits)]


def clocks(core):
    """Options that set the clocks of core, L2 and crossbar, in MHz."""
    l2 = round(core * L2_CLOCK)
    return [option for key, mhz in (("core", core), ("icnt", l2), ("l2", l2)) for option in ("--set", f"clock.{key}_khz={mhz} MHz")]


def simulate(programs, gpu, command):
    """Kernel to the statistics of its launches, each with empty caches; kernel to pipe_cycles(). gpu: as in GPUS."""
    model, core = gpu
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        launches = ["--kernels", LAUNCHES[command[0]]] if command[0] in LAUNCHES else []
        for kernel in programs.exec(model, command, *clocks(core), "--set", "launch.cache_control=all", "--record", trace,
                                    *launches)["kernels"]:
            found.setdefault(demangled(kernel["name"]), []).append(kernel)
        return found, pipe_cycles(json.loads(programs.context.call("info", trace, "--json"))["kernels"])


def busy_cycles(kernel):
    """Cycles in which a sub-core has a warp, mean of all sub-cores: ncu's smsp__cycles_active.avg."""
    subcores = kernel["occupancy"]["subcores"]
    return kernel["cycles"] - (kernel["stalls"]["empty"] + kernel["stalls"]["idle"]) / subcores


def pipe_cycles(kernels):
    """Kernel to the cycles of the pipes in an SM, mean of its launches. kernels: those of `lockstep info --json`."""
    found = {}
    for kernel in kernels:
        cycles = sum(each * kernel["opcodes"].get(op, {"warp": 0})["warp"] for ops, each in PIPES for op in ops)
        found.setdefault(demangled(kernel["name"]), []).append(cycles / SMS)
    return {name: statistics.mean(cycles) for name, cycles in found.items()}


class Row:
    """A kernel on a GPU: the table's row and ours, means of the launches of a run."""

    def __init__(self, row, launches, our_pipes):
        self.gpu, self.kernel = GPUS[row["gpu"]][0], demangled(row["kernel"])
        self.program = row["benchmark"].removesuffix("-rodinia-3.1")
        self.check = is_check(row["gpu"] + row["kernel"])
        self.elapsed = float(row["Elapsed_Cycles"])
        self.busy = self.elapsed * (1 - float(row["Num_Idle_SMs"]) / SMS)
        self.pipes, self.our_pipes = 5 * self.elapsed * float(row["Pipeline_Duty"]), our_pipes
        self.reads, self.writes = float(row["DRAM_Rd"]), float(row["DRAM_Wr"])
        self.ours = statistics.mean(k["cycles"] for k in launches)
        self.our_busy = statistics.mean(map(busy_cycles, launches))
        self.our_reads = statistics.mean(k["dram"]["reads"] for k in launches)
        self.our_writes = statistics.mean(k["dram"]["writes"] for k in launches)

    def busy_pair(self):
        return self.busy, self.our_busy

    def elapsed_pair(self, floor=0):
        return self.elapsed, self.ours + floor


def read(context):
    """The rows of the table that can be run, simulated, and the names of the benchmarks that are left out."""
    rows, runs, left_out = [], {}, set()
    for row in table(context.measurements("v100_kernels.csv"), ("gpu", "benchmark", "kernel")):
        benchmark, gpu = row["benchmark"], GPUS[row["gpu"]]
        command = COMMANDS.get(benchmark)
        if command is None or not context.programs.has(command[0]):
            left_out.add(benchmark)
            continue
        if (gpu, benchmark) not in runs:
            runs[gpu, benchmark] = simulate(context.programs, gpu, command)
        launches, pipes = runs[gpu, benchmark]
        kernel = demangled(row["kernel"])
        rows.append(Row(row, launches[kernel], pipes[kernel]))
    return rows, left_out


def error_of(pair):
    hardware, ours = pair
    return percent(ours / hardware - 1)


def floors(rows):
    """GPU to the profiler's launch floor in cycles: the fewest idle cycles that a row shows beyond ours."""
    found = {}
    for row in rows:
        if not row.check:
            beyond = (row.elapsed - row.busy) - (row.ours - row.our_busy)
            found[row.gpu] = min(found.get(row.gpu, beyond), beyond)
    return found


def write(context, page):
    rows, left_out = read(context)
    floor = floors(rows)
    page.text("One launch (mean of all launches of a run) against public measurements (v100_kernels.csv). The profiler emptied",
              "the caches before each launch (where a kernel reads what its predecessor wrote, the table has DRAM reads for",
              "all of it), and so do these runs (`launch.cache_control=all`). The registers per thread are those that lowering",
              "estimates, since CUDA 13 compiles no machine code for a V100. The core clocks are those of the configurations that the",
              "people who measured made for these GPUs: 1312 MHz for the V100 SXM2 (BranTran/accel-sim-framework), 1447 MHz for the Quadro",
              "GV100 (Accel-Sim's SM7_GV100, by its pull request 225 the GPU of AccelWattch), `qv100` here; L2 and crossbar as on a V100 PCIe, 0.87 of it.",
              "Of kmeans, whose texture references have become a texture object, the first two launches are simulated.")
    page.text("srad runs without its image. The program looks for it in `../../../data/srad`, which does not exist where Accel-Sim's scripts",
              "run it, says so, and goes on with zeros. The pipe cycles below agree: with Rodinia's image, which has no zero,",
              "lanes whose dividend is zero would be missing, and srad's pipe cycles 31 % below those of the GPU.")
    page.text("A profiler's elapsed cycles contain thousands in which no SM has a warp; they are not part of the kernel. So the error",
              "is that of *busy cycles*, in which a sub-core has a warp, averaged over the sub-cores: elapsed x (1 - idle SMs / 80), since the",
              "table's idle SMs are (1 - smsp__cycles_active.avg / elapsed) x 80 (AccelWattch's public script). Simulated busy cycles are the",
              "cycles minus `stalls.empty` and `stalls.idle` per sub-core.")
    page.text("The errors of elapsed cycles are given, too: bare, and with a launch floor. The floor of a GPU is the smallest difference",
              "between measured and simulated idle cycles among its calibration rows:",
              " and ".join(f"{cycles:,.0f} on {gpu}" for gpu, cycles in floor.items()) + ".",
              "Every row contains the launch floor, so this is its upper bound.")
    page.text("Sectors written are those that reach the DRAM before the kernel ends; the others stay in the L2, where at most",
              "half of the lines are dirty (`l2.dirty_ways`, from the QV100's srad).")
    page.text("Any number of requests can merge with a line that is being fetched (`l2.mshr_merges`). With at most four, b+tree and backprop,",
              "whose CTAs read the same lines, would be up to 9 % slower. That would be closer to the QV100, on which nearly all kernels are too",
              "fast, but further from the V100 SXM2, whose measured times are nearly the same; and CTAs that all read one table would be 2.5 to 4",
              "times too slow on a V100.")
    page.text("Slow paths of divisions are calls, branches and returns more than anything else. The SM's branch unit, which all sub-cores share,",
              "takes one in two cycles (`pipe.branch.interval`, from the QV100's srad): with a unit in each sub-core, one in four cycles, srad",
              "would be 28 % too fast on both GPUs, with one in three cycles for the SM 21 % too slow. No other kernel here has the branches to say.")
    page.table(["GPU", "program", "kernel", "busy", "Lockstep", "error", "", "elapsed", "Lockstep", "bare", "with floor",
                "DRAM sectors read", "Lockstep", "written", "Lockstep"],
               [[r.gpu, r.program, r.kernel, f"{r.busy:,.0f}", f"{r.our_busy:,.0f}", error_of(r.busy_pair()),
                 "check" if r.check else "", f"{r.elapsed:,.0f}", f"{r.ours:,.0f}", error_of(r.elapsed_pair()),
                 error_of(r.elapsed_pair(floor[r.gpu])), f"{r.reads:,.0f}", f"{r.our_reads:,.0f}",
                 f"{r.writes:,.0f}", f"{r.our_writes:,.0f}"] for r in rows])
    for name, chosen in (("Calibration rows, from which parameters may have been derived.", [r for r in rows if not r.check]),
                         ("Rows kept as a check (FNV-1a of GPU and kernel odd).", [r for r in rows if r.check]),
                         ("All, busy cycles.", rows)):
        page.text(f"{name} {error_summary(context.program, [r.busy_pair() for r in chosen])}")
    page.text(f"All, elapsed cycles, bare. {error_summary(context.program, [r.elapsed_pair() for r in rows])} With the floor.",
              error_summary(context.program, [r.elapsed_pair(floor[r.gpu]) for r in rows]))
    page.text("invert_mapping, in which each thread reads a row of 136 bytes, word by word, is where the L1 is used most: on the GPU 95 % of",
              "the sectors that it reads miss the L1, and L2 and DRAM read two sectors for each. From this row are `l1.allocate_on_miss`,",
              "`icnt.sm_queue_entries` and `l2.fetch_bytes`: 2,048 misses of an SM may wait for the crossbar, a line for each lane of 64",
              "warps, so that a line is evicted before its data have come.")
    page.text("kmeansPoint reads 28 % more sectors from DRAM than the GPUs do: its CTAs on all SMs read 22 MB five times, of which an L2 of 6 MB with",
              "LRU keeps nothing, while the GPUs' L2 has a third of them.")
    page.text("The lowered code beside the code that the GPU executed: cycles of the arithmetic pipes of an SM, from the table's",
              "pipeline duty. srad and extract divide zeros ([lowering.md](../lowering.md), slow paths). extract's pipe cycles say that the GPU",
              "took the slow path for fewer of its warps, so that its busy cycles agree by chance.")
    page.table(["GPU", "program", "kernel", "pipe cycles of an SM", "Lockstep", "difference"],
               [[r.gpu, r.program, r.kernel, f"{r.pipes:,.0f}", f"{r.our_pipes:,.0f}", percent(r.our_pipes / r.pipes - 1)] for r in rows])
    if left_out:
        page.text("Left out, since their simulation takes minutes: " + ", ".join(sorted(left_out)) + ".")
