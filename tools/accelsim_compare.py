#!/usr/bin/env python3
"""Puts our cycles, cache and DRAM counts beside Accel-Sim's, on the traces on which it was measured.

  tools/accelsim_compare.py build/release/lockstep PEERS REAL            the table of docs/accelsim-differences.md
  tools/accelsim_compare.py build/release/lockstep PEERS REAL --only streaming --set copy.warms_l2=false

PEERS: folder with vectoradd-2560, sgemm-640, random-1280 and tiny-2; REAL: with bfs-a100 and vectoradd-a100. Sectors of
32 bytes; cycles without the launch cycles of either; L2 without instruction and constant fetches, which Accel-Sim's
perfect instruction cache does not make.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import command_line  # noqa: E402
from benchlib.accelsim import MEASURED  # noqa: E402
from benchlib.table import markdown  # noqa: E402

SECTOR = 32
LIMIT = 0.2  # differences above it are explained in docs/accelsim-differences.md
FIGURES = ["cycles", "L1 accesses", "L1 hits", "L1 misses", "L2 accesses", "L2 hits", "L2 misses", "DRAM reads",
           "DRAM writes"]


def simulate(program, trace, gpu, settings):
    with tempfile.TemporaryDirectory() as folder:
        # Accel-Sim translates no addresses.
        extra = [option for setting in ("tlb.miss_latency=0", *settings) for option in ("--set", setting)]
        command = [program, "run", trace, "-c", gpu, "-q", "-o", folder, *extra]
        command_line.output_of(command)
        with open(os.path.join(folder, "stats.json")) as f:
            return json.load(f)


def ours(stats):
    total = stats["total"]
    l1, l2, dram = total["l1"], total["l2"], total["dram"]
    bursts = dram["reads"] + dram["writes"]
    scale = dram["bytes"] / bursts / SECTOR if bursts else 0
    return [sum(kernel["cycles"] for kernel in stats["kernels"]), l1["accesses"] - l1["atomic_sectors_sent"], l1["hits"],
            l1["misses"] - l1["atomic_sectors_sent"], l2["accesses"] - l2["fetches"], l2["hits"] - l2["fetch_hits"],
            l2["misses"], round(dram["reads"] * scale), round(dram["writes"] * scale)]


def difference(mine, theirs):
    """Relative to Accel-Sim's; marked where it is large."""
    if theirs == 0:
        return "" if mine == 0 else "**new**"
    relative = mine / theirs - 1
    return f"**{100 * relative:+.0f} %**" if abs(relative) > LIMIT else f"{100 * relative:+.0f} %"


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("program", metavar="LOCKSTEP", type=command_line.program)
    parser.add_argument("peers", metavar="PEERS", type=command_line.folder)
    parser.add_argument("real", metavar="REAL", type=command_line.folder)
    parser.add_argument("-c", "--config", default="qv100", help="default qv100, the GPU that Accel-Sim modelled")
    parser.add_argument("--only", action="append", choices=list(MEASURED), help="only this trace; may be repeated")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    rows = []
    for name, row in MEASURED.items():
        if arguments.only and name not in arguments.only:
            continue
        trace = os.path.join(arguments.real if row.peer_trace == name else arguments.peers, row.peer_trace)
        if not os.path.isdir(trace):
            print(f"{trace} is not there: left out", file=sys.stderr)
            continue
        stats = simulate(arguments.program, trace, arguments.config, arguments.set)
        theirs = [row.cycles, *row.l1, *row.l2, *row.dram]
        for figure, mine, other in zip(FIGURES, ours(stats), theirs):
            rows.append([name, figure, f"{other:,}", f"{mine:,}", difference(mine, other)])
    print(markdown(["trace", "figure", "Accel-Sim", "Lockstep", "difference"], rows))


if __name__ == "__main__":
    command_line.run(main)
