import math

from . import memory_tables
from .common import percent

TITLE = "Pointer chase"
EVERY = 8


def crossing(rows, level):
    """Footprint in KiB at which the latency passes `level` for good, on a logarithmic scale; None where it does not."""
    above = [i for i in range(1, len(rows)) if rows[i - 1][1] < level <= rows[i][1]]
    if not above:
        return None
    (x0, y0), (x1, y1) = rows[above[-1] - 1], rows[above[-1]]
    return math.exp(math.log(x0) + (level - y0) / (y1 - y0) * (math.log(x1) - math.log(x0)))


def levels(machine):
    """Windows in bytes in which the latency is flat, and what serves them."""
    found = [("L1", 0, 0.6 * machine.l1)]
    if machine.number("l2.halves") > 1:
        found += [("near L2", 1.5 * machine.l1, 0.4 * machine.l2), ("between half of the L2 and all", 0.65 * machine.l2, 0.95 * machine.l2)]
    else:
        found.append(("L2", 1.5 * machine.l1, 0.8 * machine.l2))
    return [*found, ("DRAM", 3 * machine.l2, 1e18)]


def mean_in(rows, low, high):
    inside = [y for x, y in rows if low <= x * 1024 <= high]
    return sum(inside) / len(inside) if inside else None


def steps_between(footprints, a, b):
    """Measured footprints from one place to another."""
    return abs(sum(x < a for x in footprints) - sum(x < b for x in footprints))


def plateaus_and_transitions(page, machine, table):
    measured = [(float(r.key.split("+")[1]), r.measured) for r in table.rows]
    ours = [(float(r.key.split("+")[1]), r.ours) for r in table.rows]
    plateaus = [(name, mean_in(measured, low, high), mean_in(ours, low, high)) for name, low, high in levels(machine)]
    plateaus = [p for p in plateaus if p[1] is not None]
    page.table(["plateau", "measured, cycles", "Lockstep, cycles", "error"],
               [[name, f"{m:.1f}", f"{o:.1f}", percent(o / m - 1)] for name, m, o in plateaus])
    rows = []
    for (name, m0, o0), (_, m1, o1) in zip(plateaus, plateaus[1:]):
        places = crossing(measured, (m0 + m1) / 2), crossing(ours, (o0 + o1) / 2)
        if None not in places:
            rows.append([f"end of {name}", *(f"{p:,.0f} KiB" for p in places),
                         steps_between([x for x, _ in measured], *places)])
    page.table(["middle of the transition", "measured", "Lockstep", "footprints of the table between"], rows)


def write(context, page):
    from microbench import write_tables
    from microbench_memory import Machine

    page.text("A chain of pointers through a footprint, beside the public measurements: every",
              f"{EVERY}th row, and those where the latency changes by more than 5 % from row to row. Each table is simulated with",
              "the version of gpu-latency that produced it: 64 threads over elements 64 bytes apart for te42kyfo/gpu-benches",
              "(gpu-latency/main.cu, f0b21a2), one thread over elements 128 bytes apart for what RRZE-HPC/gpu-benches measured",
              "again from 3be3ab1 on (V100, A100; its H100 table is te42kyfo's). The instructions are the same: 32 dependent loads",
              "with nothing between them. A whole warp's 64-bit loads take longer than one thread's, since 256 bytes instead of 8 go",
              "to the registers: 2 cycles here (512 bits per cycle, MICRO 2025); measured are 2 on V100 and L40, 3 on A100.",
              "",
              "The transition at the end of the L1 shows how lines are replaced. RRZE-HPC's 21 random orders of the elements have the same",
              "latency on the V100, within 0.2 cycles, from 130 to 152 KiB (raw table, 5 and 95 %; on the A100 there are a few latencies,",
              "64 lines apart): so whole sets miss, whatever the order. From 1.25 to 1.5 times the capacity on, everything misses: so no",
              "line is kept by chance. Lines of two elements, whose second access could renew them, miss as often (te42kyfo, V100: 32 % at",
              "130 KiB, 63 % at 144; A100: 65 % at 177) as lines of one (32, 66 and 54 %). LRU in sets of four ways would miss a fifth less",
              "often with two elements, and with many ways its transition is sharp with one. All this indicates first in, first out, with",
              "few ways: four ways have the smallest error over the calibration rows of the A100, the second smallest for the V100 (after",
              "five) and, where nothing was derived, for the A40 (after three). The capacity is what the carve-out for 32 CTAs with 1 KiB",
              "each leaves: 128 KiB on the V100, 160 on the A100, 224 on the H100. On hardware the transition begins at 0.95 of the capacity",
              "and is wider (up to 1.4 on the A100), because its index fills the sets unevenly; how is not published, and it is not modelled.",
              memory_tables.HALVES,
              "All rows of one GPU: `tools/microbench.py LOCKSTEP v100 --measured DATA/hw --group chase --rows`.")
    for gpu in memory_tables.GPU_MODELS:
        page.text(f"### {gpu}")
        tables = memory_tables.tables(context, gpu, "chase", EVERY)
        write_tables(page, tables)
        for table in tables:
            page.text(table.title + ":")
            plateaus_and_transitions(page, Machine(context.program, gpu), table)
