"""What the experiments share: runs of the programs of examples/shmem on the systems of ComP-Net's designs, tables and plots.

An experiment is a script with main(lab), named after the figure of LeBeane et al. ("ComP-Net", PACT 2018) that it is beside. It
writes OUT/NAME.md (a table) and OUT/NAME.svg. Results of runs are kept in WORK by everything that they depend on, so that
experiments share runs and an interrupted one goes on.
"""
import collections
import hashlib
import json
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kept import ROOT, digest  # noqa: E402
sys.path.append(os.path.join(ROOT, "tools"))
import command_line  # noqa: E402
import plot  # noqa: E402

NAMES = {"compnet": "ComP-Net", "apu": "APU", "dgpu": "dGPU", "dgpu_host": "dGPU, queues on the host", "direct": "direct"}
HOSTS = {"inter_kernel": "inter-kernel", "cpu": "CPU"}  # designs of programs whose hosts communicate
APART = ("apu",)  # designs whose nodes are another system: compnet_apu_8

# us: the longest of the devices' last kernels. total: the whole run, us. threads: of the statistics. energy: of all service threads, J.
Result = collections.namedtuple("Result", "us total threads energy stats")


class Lab:
    def __init__(self, arguments):
        self.program = os.path.abspath(arguments.program)
        self.binaries = os.path.abspath(arguments.binaries)
        self.work = os.path.abspath(arguments.work)
        self.out = os.path.abspath(arguments.out)
        for folder in (self.work, self.out):
            os.makedirs(folder, exist_ok=True)

    def system(self, name, design, changes):
        """Text of the system with another design and other values: "section.key" to value."""
        lines = command_line.output_of([self.program, "config", name]).splitlines()
        left, section, out = {**changes, "node.design": design}, "", []
        for line in lines:
            if line.startswith("["):
                section = line.strip("[] ").split("]")[0]
            key = f"{section}.{line.split('=')[0].strip()}"
            out.append(f"{line.split('=')[0].strip()} = {left.pop(key)}" if key in left else line)
        of_gpus = [key for key in left if key.startswith("devices.")]  # which the system leaves as they are
        at = out.index(next(line for line in out if line.startswith("[devices]"))) + 1
        out[at:at] = [f"{key.split('.', 1)[1]} = {left.pop(key)}" for key in of_gpus]
        if left:
            raise command_line.Failure(f"{name} has no {', '.join(left)}")
        return "\n".join(out) + "\n"

    def run(self, design, example, arguments, pes=2, base=None, kernels=None, **changes):
        """An example on `pes` nodes. changes: section__key to value; base: another system than the design's of compnet_8; kernels: those that
        are timed, if not all, while the others are only executed."""
        base = base or ("compnet_apu_8" if design in APART else "compnet_8")
        text = self.system(base, design, {k.replace("__", "."): v for k, v in changes.items()})
        binary = os.path.join(self.binaries, example)
        key = json.dumps([text, digest(binary), [str(a) for a in arguments], pes, digest(self.program), kernels])
        kept = os.path.join(self.work, hashlib.sha256(key.encode()).hexdigest()[:24] + ".json")
        if not os.path.exists(kept):
            self.simulate(text, [binary, *map(str, arguments)], pes, kernels, kept)
        with open(kept) as f:
            stats = json.load(f)
        last = {kernel["device"]: kernel["cycles"] for kernel in stats["kernels"]}
        threads = stats["system"]["network"]["threads"]
        us = 1e3 / stats["core_khz"]
        return Result(max(last.values(), default=0) * us, stats["total_cycles"] * us, threads, sum(t["energy_pj"] for t in threads) / 1e12, stats)

    def simulate(self, system, command, pes, kernels, kept):
        with tempfile.TemporaryDirectory() as folder:
            ini = os.path.join(folder, "system.ini")
            with open(ini, "w") as f:
                f.write(system)
            print("run:", *command[1:], file=sys.stderr)
            some = ["--kernels", kernels] if kernels else []
            command_line.output_of([self.program, "exec", "-q", "-c", ini, "--gpus", str(pes), *some, "-o", folder, "--", *command])
            os.replace(os.path.join(folder, "stats.json"), kept)

    def each(self, design, example, arguments, few, many, **options):
        """us of an operation: what `many` of them take more than `few`, by number. arguments(n): of the example."""
        difference = self.run(design, example, arguments(many), **options).us - self.run(design, example, arguments(few), **options).us
        return difference / (many - few)

    def table(self, name, lines, header, rows):
        """OUT/NAME.md: paragraphs, then a table."""
        with open(os.path.join(self.out, name + ".md"), "w") as f:
            f.write("\n".join(lines) + "\n\n| " + " | ".join(header) + " |\n|" + "---|" * len(header) + "\n")
            f.writelines("| " + " | ".join(str(c) for c in row) + " |\n" for row in rows)

    def lines(self, name, title, unit, axis, series):
        """OUT/NAME.svg: name to pairs."""
        plot.lines(os.path.join(self.out, name + ".svg"), title, unit, axis, series)


def verdict(what, met):
    """A line that says whether a band of the specification is met."""
    return f"* {'met' if met else 'NOT met'}: {what}"


def start(main, description):
    parser = command_line.Parser(description)
    parser.add_argument("program", metavar="LOCKSTEP", type=command_line.program)
    parser.add_argument("--binaries", required=True, type=command_line.folder, help="folder with the programs of examples/shmem")
    parser.add_argument("--work", default="build/experiments/compnet", help="results that are kept")
    parser.add_argument("--out", default="build/experiments/compnet/out", help="tables and plots")
    arguments = parser.parse_args()
    command_line.run(lambda: main(Lab(arguments)))
