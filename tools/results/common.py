"""What the sections share: runs of the program, and the parts of a page."""
import collections
import json
import math
import os
import statistics
import tempfile

from command_line import output_of

# Where the traces of DATA/traces come from.
SOURCE = "the public MGPUSim repository (sarchlab/mgpusim, MIT licence)"

# stats: stats.json; host: host.json (times, memory); raw: the bytes of stats.json.
Run = collections.namedtuple("Run", "stats host raw")


class Context:
    """The program under test and where its inputs are.

    program: path of lockstep. data: folder with the traces (traces/NAME) and the measurements of hardware (hw/*.csv).
    work: folder that keeps generated traces, or None.
    """

    def __init__(self, program, data, work=None):
        self.work = work
        self.program = os.path.abspath(program)
        self.data = os.path.abspath(data)

    def trace(self, name):
        """Path of a real trace."""
        return os.path.join(self.data, "traces", name)

    def measurements(self, name):
        """Path of a table of measurements, e.g. h100_pcie_kernels.csv."""
        return os.path.join(self.data, "hw", name)

    def call(self, *arguments):
        """Runs the program and returns what it writes to standard output. A failure ends the page."""
        return output_of([self.program, *arguments])

    def run(self, trace, gpu, *options):
        """Simulates a trace (a path) on a configuration."""
        with tempfile.TemporaryDirectory() as out:
            self.call("run", trace, "-c", gpu, "--quiet", "-o", out, *options)
            with open(os.path.join(out, "stats.json"), "rb") as f:
                raw = f.read()
            with open(os.path.join(out, "host.json")) as f:
                return Run(json.loads(raw), json.load(f), raw)

    def synth(self, folder, kind, *options):
        """Writes a trace of our generator into `folder` and returns its path."""
        self.call("synth", kind, *options, "--out", folder)
        return folder


class Page:
    """Lines of Markdown."""

    def __init__(self):
        self.lines = []

    def text(self, *lines):
        """A paragraph."""
        self.lines += [*lines, ""]

    def table(self, header, rows):
        """Every cell as str(cell)."""
        self.lines.append("| " + " | ".join(header) + " |")
        self.lines.append("|" + "---|" * len(header))
        self.lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.lines.append("")


def hit_rate(cache):
    return f"{100 * cache['hits'] / cache['accesses']:.1f} %" if cache["accesses"] else "-"


def percent(error):
    """A relative error with its sign: 0.042 is +4.2 %."""
    return f"{100 * error:+.1f} %"


def quantiles(errors):
    """Mean, median, p90 (nearest rank) and maximum of the absolute values."""
    ordered = sorted(abs(e) for e in errors)
    p90 = ordered[math.ceil(0.9 * len(ordered)) - 1]
    return statistics.mean(ordered), statistics.median(ordered), p90, ordered[-1]


def errors_of(program, pairs):
    """What `lockstep correlate` (program) says of pairs (hardware, ours): the first of by_counter of its --json."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "pairs.csv")
        with open(file, "w") as f:
            f.write("hardware,simulated\n" + "".join(f"{hardware!r},{ours!r}\n" for hardware, ours in pairs))
        return json.loads(output_of([program, "correlate", file, "--json"]))["by_counter"][0]


def error_summary(program, pairs):
    """Mean, median, p90 and maximum of the absolute errors of pairs (hardware, ours), and their correlation, as a sentence."""
    e = errors_of(program, pairs)
    together = [f", {name} {e[key]:.3f}" for key, name in (("geometric_mean", "geometric mean of ours / hardware"), ("correlation", "r"))
                if e[key] is not None]
    return (f"Error: mean {100 * e['mean_absolute']:.1f} %, median {100 * e['median_absolute']:.1f} %, "
            f"p90 {100 * e['p90_absolute']:.1f} %, maximum {100 * abs(e['maximum']):.1f} % of {len(pairs)} rows"
            f"{''.join(together)}.")
