"""What the experiments share: the programs of examples/uvm as traces, runs of them, and tables.

An experiment is a script with main(lab). It writes OUT/NAME.md (a table) and OUT/NAME.svg. Traces and results of runs are kept in
WORK, by everything that they depend on, so that experiments share runs and an interrupted one goes on.
"""
import collections
import concurrent.futures
import copy
import hashlib
import json
import math
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kept import ROOT, digest  # noqa: E402
sys.path.append(os.path.join(ROOT, "tools"))
import command_line  # noqa: E402
from command_line import Failure  # noqa: E402

# Name of the published benchmark: program, arguments, footprint in MB. OWN: of examples/uvm, footprints as published but for
# backprop (17.56 there). PUBLIC: UVMSmart's own, with the footprints that it counts; input files are public_inputs.py's.
OWN = {
    "backprop": ("backprop", ["131056"], 18.0625),
    "bfs": ("bfs", ["262144"], 9.75),
    "hotspot": ("stencil", ["1024", "4"], 12.0),
    "nw": ("wavefront", ["1024"], 8.125),
    "pathfinder": ("pathfinder", ["50000", "200", "10"], 38.5),
    "fdtd": ("fdtd", ["1200", "5"], 18.0625),
    "srad": ("srad", ["1024", "4"], 4.0),
    "triad": ("triad", ["1048576"], 12.0),
    "stream": ("triad", ["1048576", "1"], 12.0),  # one block: the pages one after another
    "ra": ("random", ["1048576"], 12.0),
}
PUBLIC = {
    "backprop": ("backprop", ["131056"], 17.5625),
    "bfs": ("bfs", ["graph256k_0.txt"], 9.75),
    "fdtd": ("fdtd", [], 18.0625),
    "hotspot": ("hotspot", ["1024", "2", "8", "temp_1024", "power_1024", os.devnull], 12.0),
    "nw": ("nw", ["1024", "10"], 8.125),
    "pathfinder": ("pathfinder", ["50000", "200", "10"], 38.5),
    "srad": ("srad", ["1024", "1024", "0", "127", "0", "127", "0.5", "4"], 4.0),
}

# Draws: nw and bfs of PUBLIC depend on what no publication says. Their time is the median of runs that differ in that alone.
LATENCIES = range(116, 125)  # nw: of the L2, cycles; UVMSmart's in the middle
GRAPHS = [f"graph256k_{seed}.txt" for seed in range(9)]  # bfs: of the published generator and size

# cycles: sum over kernels. us: that and the added handling of faults, in microseconds. uvm: counters.
Result = collections.namedtuple("Result", "cycles us uvm")


class Lab:
    def __init__(self, arguments):
        self.program = os.path.abspath(arguments.program)
        self.binaries = os.path.abspath(arguments.binaries)
        self.public = os.path.abspath(arguments.public) if arguments.public else None
        self.programs = PUBLIC if self.public else OWN
        self.measured = os.path.abspath(arguments.measured) if arguments.measured else None
        self.work = os.path.abspath(arguments.work)
        self.out = os.path.abspath(arguments.out)
        self.jobs = arguments.jobs
        self.only = arguments.only.split(",") if arguments.only else None
        for folder in (self.work, self.out):
            os.makedirs(folder, exist_ok=True)

    def own(self):
        """The same with the programs of examples/uvm."""
        other = copy.copy(self)
        other.public, other.programs = None, OWN
        return other

    def chosen(self, names):
        """Those of the names that --only leaves and that are programs."""
        return [n for n in names if n in self.programs and (self.only is None or n in self.only)]

    def memory_of(self, name, percent):
        """Device memory in MB so that the footprint is that percentage of it; None for 0: memory for all."""
        return self.programs[name][2] * 100 / percent if percent else None

    def trace(self, name, arguments=None, ordered=True):
        """The recorded trace of a program. ordered: its loads stand in the order of the PTX, which UVMSmart simulates, as do
        its integer instructions; else as a compiler for the hardware would have them.
        """
        binary, standard, _ = self.programs[name]
        arguments = standard if arguments is None else arguments
        folder = self.public or self.binaries
        words = [binary, *(a for a in arguments if "/" not in a)]
        return self.record(("public-" if self.public else "") + "-".join(words), [os.path.join(folder, binary), *arguments],
                           ordered, folder)

    def draws(self, name):
        """Trace and machine of each run that the time of a benchmark is the median of: one, but for nw and bfs of PUBLIC."""
        if self.public and name == "nw":
            return [(self.trace(name), smart(cycles)) for cycles in LATENCIES]
        if self.public and name == "bfs":
            return [(self.trace(name, [graph]), SMART) for graph in GRAPHS]
        return [(self.trace(name), SMART)]

    def requests(self, name, percent, **values):
        """For runs(): the draws of a benchmark with its footprint that percentage of the memory."""
        return [(*draw, self.memory_of(name, percent), values) for draw in self.draws(name)]

    def spread(self, name, percent, **values):
        """Results of the draws, the shortest first."""
        return sorted(self.runs(self.requests(name, percent, **values)), key=lambda result: result.us)

    def median(self, name, percent, **values):
        """The result of a benchmark that all tables give: the run of the median time, with its counters."""
        results = self.spread(name, percent, **values)
        return results[len(results) // 2]

    def runs(self, requests):
        """Results of (trace, configuration, memory, values), as of run(); --jobs are simulated at a time."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(lambda request: self.run(*request[:3], **request[3]), requests))

    def record(self, name, command, ordered, folder):
        path = os.path.join(self.work, name + (".ptx" if ordered else "") + ".lst")
        steps = ("schedule", "integers", "setup", "temporaries", "slow_paths", "left_out") if ordered else ()
        options = [word for step in steps for word in ("--without", step)]
        if not os.path.exists(path):
            command_line.output_of([self.program, "record", path + ".part", *options, "--", *command], cwd=folder)
            os.rename(path + ".part", path)
        return path

    def run(self, trace, configuration, memory=None, **values):
        """Simulates. configuration: lines of an INI file; memory: of the GPU in MB, or None for all; values: uvm.* keys.

        What the program said to be managed is managed.
        """
        if configuration[0] == SMART[0]:  # a key with the configuration's own value is the same run
            values = {key: value for key, value in values.items() if (key, value) not in SMART_VALUES}
        options = [f"uvm.{key}={value}" for key, value in sorted(values.items())]
        key = json.dumps([digest(trace), configuration, memory, options, digest(self.program)])
        kept = os.path.join(self.work, hashlib.sha256(key.encode()).hexdigest()[:24] + ".json")
        if not os.path.exists(kept):
            self.simulate(trace, configuration, memory, options, kept)
        with open(kept) as f:
            stats = json.load(f)
        managed = stats["managed"]
        return Result(managed["kernel_cycles"], managed["kernel_and_fault_cycles"] * 1e3 / stats["core_khz"], managed)

    def simulate(self, trace, configuration, memory, options, kept):
        with tempfile.TemporaryDirectory() as folder:
            ini = os.path.join(folder, "gpu.ini")
            with open(ini, "w") as f:
                f.write("\n".join(configuration) + "\n")
            # UVMSmart's channels make windows of one cycle, in which a second thread would mostly wait.
            command = [self.program, "run", trace, "-c", ini, "--quiet", "--threads", "1", "-o", folder]
            for option in options:
                command += ["--set", option]
            if memory:
                command += ["--gpu-memory", f"{math.ceil(memory * 2 ** 20 / 4096) * 4096}B"]
            print("run:", " ".join(command[2:]), file=sys.stderr)
            command_line.output_of(command)
            os.replace(os.path.join(folder, "stats.json"), kept)

    def table(self, name, lines, header, rows):
        """OUT/NAME.md: paragraphs, then a table."""
        with open(os.path.join(self.out, self.named(name) + ".md"), "w") as f:
            f.write("\n".join(lines) + "\n\n| " + " | ".join(header) + " |\n|" + "---|" * len(header) + "\n")
            f.writelines("| " + " | ".join(str(c) for c in row) + " |\n" for row in rows)

    def plot(self, name):
        return os.path.join(self.out, self.named(name) + ".svg")

    def named(self, name):
        """What an experiment writes for the public programs has another name."""
        return "public_" + name if self.public else name


SMART = ["include = uvmsmart_gtx1080ti"]  # UVMSmart's machine
SMART_VALUES = (("prefetcher", "tbn"), ("prefetcher_oversubscribed", "tbn"), ("evictor", "lru_2m"), ("reserve_percent", 0))
SMART_LATENCY = 120  # of its L2, cycles


def smart(latency):
    """UVMSmart's machine with another latency of the L2."""
    return SMART if latency == SMART_LATENCY else SMART + [f"l2.latency = {latency}"]


def difference(value, published):
    """For a table: percent, or nothing where nothing is published."""
    return f"{100 * (value / published - 1):+.1f} %" if published else ""


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def start(main, description):
    parser = command_line.Parser(description)
    parser.add_argument("program", metavar="LOCKSTEP", type=command_line.program)
    parser.add_argument("--binaries", required=True, type=command_line.folder, help="folder with the programs of examples/uvm, built by nvcc")
    parser.add_argument("--work", default="build/experiments/uvm", help="traces and results that are kept")
    parser.add_argument("--out", default="build/experiments/uvm/out", help="tables and plots")
    parser.add_argument("--public", type=command_line.folder, help="UVMSmart's own benchmarks, of this folder, not ours")
    parser.add_argument("--measured", type=command_line.folder, help="folder of the tables of measurements")
    parser.add_argument("--jobs", type=command_line.whole(1), default=os.cpu_count() or 1, help="simulations at a time, of runs that are draws")
    parser.add_argument("--only", help="these benchmarks, separated by commas")
    arguments = parser.parse_args()
    command_line.run(lambda: main(Lab(arguments)))
