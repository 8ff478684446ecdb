#!/usr/bin/env python3
"""Microbenchmarks of the SM of a configuration beside published figures, in Markdown: pipes, peak rates, register file,
shared memory, instruction caches, barriers, atomics; with measured rows also the launch of CTAs.

  tools/microbench_sm.py build/release/lockstep CONFIG [--measured DIR]

DIR holds h100_pcie_kernels.csv. Each figure is the slope between two sizes of a kernel of our generator, so that start
and end cancel out; pipes and caches run on one TPC.
"""
import os
import tempfile

import command_line
from command_line import Failure
from results.common import Context, Page, percent, quantiles
from results.split import is_check

PUBLISHED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "micro", "published.tsv")
# What ncu adds to an empty kernel beside the life of its last CTA; see tests/micro/launch_test.cpp.
NCU_FLOOR = 3830
NCU_CLOCK = ["--set", "core.clock_mhz=1100"]  # cycles over time of the rows
GRIDS = (1024, 4096)  # of the empty kernel
FEW_CTAS = 200  # up to which the whole GPU runs the FFMA kernel


def published(measure):
    """Rows (where, op, value, mhz, operations, source) of the table that the tests read too."""
    with open(PUBLISHED) as f:
        rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return [row[1:] for row in rows if row[0] == measure]


def chains_for(op):
    """As many as any latency needs, or the registers hold: a warpgroup's results are wide."""
    return 2 if op.startswith("HGMMA.64x128") else 3 if op[1:].startswith("GMMA") else 8


class Machine:
    """A configuration, whole or cut down to one TPC for each half of the L2, and kernels run on it."""

    def __init__(self, program, config):
        self.context, self.config = Context(program, "."), config
        values, section = {}, ""
        for line in self.context.call("config", config).splitlines():
            words = line.split(";")[0].strip()
            if words.startswith("["):
                section = words[1:-1]
            elif "=" in words:
                key, value = words.split("=", 1)
                values[f"{section}.{key.strip()}"] = value.strip()
        self.values = values
        self.name = values["gpu.name"]
        self.arch = self.number("gpu.arch")
        gpcs = self.number("l2.halves")  # each half serves one
        self.tpc = ["--set", f"gpu.sms={gpcs * self.number('gpu.sms_per_tpc')}", "--set", f"gpu.gpcs={gpcs}"]

    def number(self, key):
        return int(self.values[key].split()[0])

    def cycles(self, kind, options=(), whole=False, **values):
        values.setdefault("arch", self.arch)
        arguments = [part for name, value in values.items() for part in (f"--{name.replace('_', '-')}", str(value))]
        with tempfile.TemporaryDirectory() as folder:
            trace = self.context.synth(os.path.join(folder, "t"), kind, *arguments)
            # Differences of two runs, whose first accesses need not have as many translations.
            run = self.context.run(trace, self.config, "--threads", "1", "--set", "tlb.miss_latency=0",
                                   *([] if whole else self.tpc), *options)
        return run.stats["kernels"][0]["cycles"]

    def steady(self, kind, options=(), **values):
        """Cycles of a pass through code that the caches know."""
        return (self.cycles(kind, options, passes=4, **values) - self.cycles(kind, options, passes=2, **values)) / 2

    def each(self, kind, option, low, high, options=(), **values):
        """Cycles of one more unit of `option` in a pass."""
        few = self.steady(kind, options, **{option: low}, **values)
        return (self.steady(kind, options, **{option: high}, **values) - few) / (high - low)

    def latency(self, op):
        return self.each("pipe", "instructions", 48, 96, op=op)

    def rate(self, op):
        """Warp instructions a cycle of one SM."""
        warps = self.number("sm.subcores")
        return warps / self.each("pipe", "instructions", 48, 96, op=op, chains=chains_for(op), threads=32 * warps)


def latencies(machine):
    rows = [["instruction", "published, cycles", "Lockstep, cycles", "source"]]
    for where, op, value, _, _, source in published("latency"):
        if where == machine.name:
            rows.append([f"`{op}`", value, f"{machine.latency(op):g}", source])
    return rows


def rates(machine):
    rows = [["instruction", "published, results per cycle and SM", "Lockstep", "source"]]
    for where, op, value, _, operations, source in published("rate"):
        if where == str(machine.arch):
            rows.append([f"`{op}`", value, f"{machine.rate(op) * int(operations):g}", source])
    return rows


def peaks(machine):
    rows = [["instruction", "clock, MHz", "published, 10^12/s", "Lockstep, 10^12/s", "source"]]
    for where, op, value, mhz, operations, source in published("peak"):
        if where == machine.name:
            tera = machine.number("gpu.sms") * machine.rate(op) * int(operations) * float(mhz) / 1e6
            rows.append([f"`{op}`", mhz, value, f"{tera:.5g}", source])
    return rows


def registers(machine):
    rows = [["banks of the FFMA's second and third operand", "A100 and MICRO 2025, cycles", "no reuse", "one reused",
             "two reused"]]
    for second, measured in (("odd-odd", 5), ("even-odd", 6), ("even-even", 7)):
        rows.append([second, measured, *(f"{machine.each('operands', 'repeats', 32, 64, second=second, reuse=r):g}"
                                         for r in range(3))])
    return rows


def shared(machine):
    accesses = [(op, bits) for op in ("LDS", "STS") for bits in (32, 64, 128)]
    rows = [["stride", *(f"{op}.{bits}" for op, bits in accesses)]]
    for stride in (0, 1, 2, 3, 4, 7, 8, 16, 31, 32):
        cycles = [machine.each("shared", "instructions", 24, 48, op=op, width=bits, stride=stride, threads=128) / 4
                  for op, bits in accesses]
        rows.append([stride, *(f"{c:.2f}" for c in cycles)])
    return rows


def code(machine):
    entries = (0, 1, 2, 4, 8, 16)
    rows = [["KiB of code", *(f"{n} entries" for n in entries)]]
    for size in (1, 4, 8, 16, 32, 64, 96, 192, 256, 512):
        passes = [machine.steady("code", ["--set", f"frontend.prefetch_entries={n}"], bytes=1024 * size)
                  for n in entries]
        rows.append([size, *(f"{cycles / (64 * size):.2f}" for cycles in passes)])
    return rows


def barriers(machine):
    rows = [["warps", "barrier of the CTA, cycles", "named barriers, cycles"]]
    for warps in (1, 2, 4, 8, 16, 32):
        rows.append([warps, *(f"{machine.each('barriers', 'instructions', 32, 64, pattern=p, threads=32 * warps):g}"
                              for p in ("cta", "named"))])
    return rows


def atomics(machine):
    rows = [["addresses of a warp", "shared memory, cycles", "L2, one line, cycles", "L2, a line each, cycles"]]
    for n in (1, 2, 4, 8, 16, 32):
        local = machine.each("shared", "instructions", 24, 48, op="ATOMS.ADD", addresses=n, threads=128) / 4
        line, lines = (machine.each("atomics", "instructions", 16, 32, addresses=n, stride=s, ctas=4, threads=256) / 32
                       for s in (4, 128))
        rows.append([n, f"{local:.2f}", f"{line:.2f}", f"{lines:.2f}"])
    return rows


def h100_rows(folder):
    return command_line.table(os.path.join(folder, "h100_pcie_kernels.csv"), ("suite", "benchmark", "params", "profiler"),
                              ("raw_cycles_field", "total_kernel_ns"))


def parameters(text):
    """Of "block=200;thread=64", whole numbers all."""
    try:
        return {key: int(value) for key, value in (part.split("=") for part in text.split(";"))}
    except ValueError:
        raise Failure(f"h100_pcie_kernels.csv: params: found '{text}', expected NAME=NUMBER;...") from None


def launch_rows(measured, benchmarks):
    for row in h100_rows(measured):
        if row["profiler"] == "ncu" and row["benchmark"] in benchmarks:
            yield row["params"], parameters(row["params"]), float(row["raw_cycles_field"])


def against(title, rows):
    """Errors of rows (name, measured, modelled), of the half that gave the parameters and of the other half."""
    out = [["rows", "number", "mean", "median", "p90", "maximum"]]
    for half, check in (("derived from", False), ("check", True)):
        errors = [ours / measured - 1 for name, measured, ours in rows if is_check(name) == check]
        if errors:
            out.append([half, len(errors), *(percent(e) for e in quantiles(errors))])
    return title, out


def launches(machine, measured):
    """H100 PCIe under ncu: empty kernels by grid and CTA size, and dependent FFMA in some CTAs."""
    seen, empty, chains = {}, [], []
    for name, p, cycles in launch_rows(measured, ("emptykernel",)):
        if p["block"] in GRIDS:
            key = (p["block"], p["thread"])
            seen[key] = seen.get(key) or machine.cycles("empty", NCU_CLOCK, whole=True, ctas=p["block"],
                                                       threads=p["thread"])
            empty.append((name, cycles, NCU_FLOOR + seen[key]))
    for name, p, cycles in launch_rows(measured, ("ffmakernel", "ffmakernel-large")):
        if p["block"] <= FEW_CTAS and p["iters"] <= 20:
            ours = machine.cycles("ffma", NCU_CLOCK, whole=True, ctas=p["block"], threads=p["thread"],
                                  iterations=p["iters"])
            chains.append((name, cycles, NCU_FLOOR + ours))
    return [against("Empty kernels of 1024 and 4096 CTAs, H100 PCIe under ncu", empty),
            against("Dependent FFMA in 1 to 200 CTAs, H100 PCIe under ncu", chains),
            against("Ten more iterations of dependent FFMA in 200 to 6000 CTAs, H100 PCIe under ncu",
                    crowds(machine, measured))]


def crowds(machine, measured):
    """Many warps a sub-core: what ten more iterations take; one TPC with as many CTAs an SM as the fullest has."""
    rows = {}
    for _, p, cycles in launch_rows(measured, ("ffmakernel-large-large",)):
        rows.setdefault(p["block"], {})[p["iters"]] = cycles
    out = []
    for ctas, cycles in rows.items():
        each = -(-ctas // machine.number("gpu.sms")) * machine.number("gpu.sms_per_tpc")
        few, more = (machine.cycles("ffma", NCU_CLOCK, ctas=each, threads=128, iterations=n) for n in (10, 20))
        out.append((f"block={ctas};thread=128", cycles[20] - cycles[10], more - few))
    return out


def tables(program, config, measured=None):
    """List of (title, rows); the first row is the header."""
    machine = Machine(program, config)
    found = [("Latency of dependent instructions", latencies(machine)),
             ("Rate of independent instructions", rates(machine)),
             ("Peak rates", peaks(machine)),
             ("Clocks around IADD3, FFMA: register banks and reuse", registers(machine)),
             ("Shared memory: cycles of a warp instruction by stride", shared(machine)),
             ("Straight-line code: cycles of an instruction by size and stream buffer", code(machine)),
             ("Barriers one after another", barriers(machine)),
             ("Atomics of a warp by different addresses", atomics(machine))]
    if measured and machine.name == "h100_pcie":
        found += launches(machine, measured)
    return [(title, rows) for title, rows in found if len(rows) > 1]


def write(page, program, config, measured=None):
    """The tables as a part of a page."""
    for title, rows in tables(program, config, measured):
        page.text(f"### {config}: {title}")
        page.table(rows[0], rows[1:])


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("program", metavar="LOCKSTEP", type=command_line.program)
    parser.add_argument("config", metavar="CONFIG", help="a GPU or a configuration file")
    parser.add_argument("--measured", metavar="DIR", type=command_line.folder, help="folder with h100_pcie_kernels.csv")
    arguments = parser.parse_args()
    page = Page()
    write(page, arguments.program, arguments.config, arguments.measured)
    print("\n".join(page.lines))


if __name__ == "__main__":
    command_line.run(main)
