"""What the experiments share: the programs of examples/uvm as traces, runs of them, and tables.

An experiment is a script with main(lab). It writes OUT/NAME.md (a table) and OUT/NAME.svg. Traces and results of runs are kept in
WORK, by everything that they depend on, so that experiments share runs and an interrupted one goes on.
"""
import argparse
import collections
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")

# Name of the published benchmark: program of examples/uvm, arguments, footprint in MB: as published, but for backprop
# (17.56 there) and srad, where all of the image's arrays are managed.
PROGRAMS = {
    "backprop": ("backprop", ["131056"], 18.0625),
    "bfs": ("bfs", ["262144"], 9.75),
    "hotspot": ("stencil", ["1024", "4"], 12.0),
    "nw": ("wavefront", ["1024"], 8.125),
    "pathfinder": ("pathfinder", ["50000", "200", "10"], 38.5),
    "srad": ("srad", ["1024", "4"], 24.0),
    "triad": ("triad", ["1048576"], 12.0),
    "stream": ("triad", ["1048576", "1"], 12.0),  # one block: the pages one after another
    "ra": ("random", ["1048576"], 12.0),
}

# cycles: sum over kernels. us: that and the added handling of faults, in microseconds. uvm: counters.
Result = collections.namedtuple("Result", "cycles us uvm")


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


class Lab:
    def __init__(self, arguments):
        self.program = os.path.abspath(arguments.program)
        self.binaries = os.path.abspath(arguments.binaries)
        self.public = os.path.abspath(arguments.public) if arguments.public else None
        self.measured = os.path.abspath(arguments.measured) if arguments.measured else None
        self.work = os.path.abspath(arguments.work)
        self.out = os.path.abspath(arguments.out)
        self.only = arguments.only.split(",") if arguments.only else None
        for folder in (self.work, self.out):
            os.makedirs(folder, exist_ok=True)

    def chosen(self, names):
        """Those of the names that --only leaves."""
        return [n for n in names if self.only is None or n in self.only]

    def trace(self, name, arguments=None, ordered=True):
        """The recorded trace of a program. ordered: its loads stand in the order of the PTX, which UVMSmart simulates; else as a
        compiler for the hardware would put them.
        """
        binary, standard, _ = PROGRAMS[name]
        arguments = standard if arguments is None else arguments
        return self.record("-".join([binary, *arguments]), [os.path.join(self.binaries, binary), *arguments], ordered)

    def public_trace(self, name, arguments):
        """The recorded trace of a program of --public, which runs in that folder."""
        if not self.public:
            sys.exit("this experiment needs --public FOLDER, made by public_programs.sh")
        return self.record("public-" + name + "".join("-" + a for a in arguments if "/" not in a),
                           [os.path.join(self.public, name), *arguments], True, self.public)

    def record(self, name, command, ordered, folder=None):
        path = os.path.join(self.work, name + (".ptx" if ordered else "") + ".lst")
        options = ["--without", "schedule"] if ordered else []
        if not os.path.exists(path):
            subprocess.run([self.program, "record", path + ".part", *options, "--", *command], check=True,
                           stdout=subprocess.DEVNULL, cwd=folder)
            os.rename(path + ".part", path)
        return path

    def run(self, trace, configuration, memory=None, **values):
        """Simulates. configuration: lines of an INI file; memory: of the GPU in MB, or None for all; values: uvm.* keys.

        What the program said to be managed is managed.
        """
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
            command = [self.program, "run", trace, "-c", ini, "--quiet", "-o", folder]
            for option in options:
                command += ["--set", option]
            if memory:
                command += ["--gpu-memory", f"{math.ceil(memory * 2 ** 20 / 4096) * 4096}B"]
            print("run:", " ".join(command[2:]), file=sys.stderr)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            os.replace(os.path.join(folder, "stats.json"), kept)

    def table(self, name, lines, header, rows):
        """OUT/NAME.md: paragraphs, then a table."""
        with open(os.path.join(self.out, name + ".md"), "w") as f:
            f.write("\n".join(lines) + "\n\n| " + " | ".join(header) + " |\n|" + "---|" * len(header) + "\n")
            f.writelines("| " + " | ".join(str(c) for c in row) + " |\n" for row in rows)

    def plot(self, name):
        return os.path.join(self.out, name + ".svg")


def memory_of(name, percent):
    """Device memory in MB so that the footprint is so many percent of it."""
    return PROGRAMS[name][2] * 100 / percent


SMART = ["include = gtx1080ti", "include = uvmsmart"]  # UVMSmart's machine


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def start(main, description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("program", metavar="LOCKSTEP")
    parser.add_argument("--binaries", required=True, help="folder with the programs of examples/uvm, built by nvcc")
    parser.add_argument("--work", default="build/experiments/uvm", help="traces and results that are kept")
    parser.add_argument("--out", default="build/experiments/uvm/out", help="tables and plots")
    parser.add_argument("--public", help="folder of UVMSmart's own benchmarks, made by public_programs.sh")
    parser.add_argument("--measured", help="folder of the tables of measurements")
    parser.add_argument("--only", help="these benchmarks, separated by commas")
    main(Lab(parser.parse_args()))
