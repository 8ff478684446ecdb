#!/usr/bin/env python3
"""Derives the memory-side and launch parameters of a configuration from measured tables, in Markdown.

  tools/derive_memory.py build/release/lockstep CONFIG --measured DIR [--gpu GPU]

Only the half of the rows that may be used is read (microbench_memory.Row.derives); the other half never enters. DIR is
that of tools/microbench.py. Each line: the key, what the rows give, what the configuration has. What documents give (sizes,
clocks of core and DRAM, timing rules) and assumed splits are taken from the configuration.
"""
import os
import statistics

import command_line
from command_line import Failure
from microbench_memory import Machine, Row, chase_shape, measured_gpu, read_rows
from microbench_sm import h100_rows, parameters
from results.common import Page

MISS_PATH = 6  # cycles of a miss in the SM beside a hit's latency (MemoryPipeline::kMissPath)
SECOND_PASS = 2  # the second half of a warp's 64-bit addresses on their way to the registers (MemoryPipeline::kPassTransfer)
NCU_KHZ = 1.1e6  # core clock under ncu: cycles over time of its rows
BURST_TRANSFERS = 4  # bursts of 32 bytes per line


def derived(rows, key):
    """The rows that may be used."""
    return [r for r in rows if Row(key(r), 1, 1).derives]


class Chase:
    """Plateaus of the pointer chase of one thread, the mean of both sources' means."""

    def __init__(self, folder, gpu):
        self.path, self.gpu = os.path.join(folder, "pointer_chase_latency.csv"), gpu
        rows = read_rows(folder, "pointer_chase_latency.csv", gpu=gpu)
        self.rows = derived(rows, lambda r: f"{r['gpu']}+{r['footprint_kB']}")

    def plateau(self, low, high):
        """Of footprints from `low` to `high` bytes; None where there is no row."""
        found = {}
        for r in self.rows:
            if low <= float(r["footprint_kB"]) * 1024 <= high:
                second = SECOND_PASS if chase_shape(r["source"], r["gpu"])["threads"] > 16 else 0
                found.setdefault(r["source"], []).append(float(r["latency_cycles"]) - second)
        return statistics.mean(statistics.mean(v) for v in found.values()) if found else None

    def needed(self, level, low, high):
        """The plateau of a level, which must have a row."""
        cycles = self.plateau(low, high)
        if cycles is None:
            raise Failure(f"{self.path}: no row of '{self.gpu}' that may be used shows the {level}, from "
                          f"{low / 1024:,.0f} KiB{f' to {high / 1024:,.0f} KiB' if high < 1e18 else ''}")
        return cycles


def refresh(m):
    """DRAM cycles that a read waits for a refresh on average, and the share of time that refreshes take with the banks'
    closing and opening: none where the other banks go on."""
    busy, interval = m.number("dram.tRFC"), m.number("dram.tREFI")
    share = (busy + m.number("dram.tRP") + m.number("dram.tRCD")) / interval
    return busy**2 / interval / 2, share if m.values["dram.refresh"] == "all_banks" else 0


def latencies(m, chase):
    """l1.hit_latency, l2.latency, icnt.far_latency, dram.latency_ps from the plateaus."""
    halves, l2 = m.number("l2.halves"), m.l2
    hit = round(chase.needed("L1", 0, 0.6 * m.l1))
    near = chase.needed("L2", 1.5 * m.l1, (0.4 if halves > 1 else 0.8) * l2)
    last = chase.needed("DRAM", 8 * l2, 1e18)
    inside = hit + MISS_PATH
    core, icnt, l2_khz = (m.number(f"clock.{c}_khz") for c in ("core", "icnt", "l2"))
    ways = m.number("icnt.request_latency") + m.number("icnt.reply_latency")
    found = {"l1.hit_latency": hit, "l2.latency": round((near - inside - ways * core / icnt) * l2_khz / core - 1)}
    far = 2 * m.number("icnt.far_latency") * core / icnt if halves > 1 else 0
    between = chase.plateau(0.65 * l2, 0.95 * l2) if halves > 1 else None
    if between:  # no row of the H100's that may be used lies there
        far = 4 * between - 2 * near - 2 * last
        found["icnt.far_latency"] = round(far / 2 * icnt / core)
    commands = sum(m.number(f"dram.{k}") for k in ("tRCD", "tCL", "burst_cycles")) + refresh(m)[0]
    picoseconds = (last - far / 2 - near) * 1e9 / core - commands * 1e9 / m.number("clock.dram_khz")
    found["dram.latency_ps"] = round(picoseconds, -2)
    return found


def bandwidth(m, folder, gpu):
    """clock.l2_khz: the bandwidth that the L2 keeps up over footprints that it holds, over slices * bytes per cycle."""
    slices = m.number("l2.partitions") * m.number("l2.slices_per_partition") // m.number("l2.halves") * m.number("l2.halves")
    limit = (0.4 if m.number("l2.halves") > 1 else 0.9) * m.l2
    best = []
    for bench in ("gpu-cache", "gpu-l2-cache"):
        rows = read_rows(folder, "cache_bandwidth.csv", gpu=gpu, bench=bench, source="te42kyfo")
        rows = derived(rows, lambda r: f"{gpu}+{r['footprint_kB']}")
        inside = [float(r["GBps"]) for r in rows if 2.5 * m.l1 <= float(r["footprint_kB"]) * 1024 <= limit]
        if inside:
            best.append(statistics.median(inside))
    return {"clock.l2_khz": round(max(best) * 1e6 / (slices * m.number("l2.slice_bytes_per_cycle")))} if best else {}


def write_batch(m, folder, gpu):
    """Lines that are written between two turn-arounds, dram.write_high - dram.write_low, from what mixed kernels lose
    against the peak less refreshes at half occupancy and more: a turn each way costs tRTW and tCWL + burst + tWTR_L."""
    n = {k: m.number(f"dram.{k}") for k in ("tRTW", "tCWL", "tWTR_L", "burst_cycles")}
    turns = n["tRTW"] + n["tCWL"] + n["burst_cycles"] + n["tWTR_L"]
    channels = m.number("l2.partitions") * m.number("dram.channels_per_partition")
    peak = channels * m.number("dram.burst_bytes") / n["burst_cycles"] * m.number("clock.dram_khz") / 1e6
    peak *= 1 - refresh(m)[1]
    rows = read_rows(folder, "stream_bandwidth.csv", gpu=gpu, source="te42kyfo")
    rows = [r for r in derived(rows, lambda r: f"{gpu}+{r['occ_pct']}") if float(r["occ_pct"]) >= 50]
    lines = []
    for kernel, written in (("scale", 1 / 2), ("triad", 1 / 3)):
        for r in rows:
            loss = peak / float(r[kernel]) - 1
            lines.append(turns * written / (BURST_TRANSFERS * n["burst_cycles"]) / loss)
    return {"dram.write_high - dram.write_low": round(statistics.median(lines), 1)} if lines else {}


def empty_kernels(folder, profiler):
    """(CTAs, warps, core cycles) of the empty kernel's rows that may be used."""
    for r in h100_rows(folder):
        if r["benchmark"] == "emptykernel" and r["profiler"] == profiler and Row(r["params"], 1, 1).derives:
            p = parameters(r["params"])
            cycles = float(r["raw_cycles_field"]) if profiler == "ncu" else float(r["total_kernel_ns"]) * 1.755
            yield p["block"], -(-p["thread"] // 32), cycles


def fit(points):
    """Least squares through (x, y): offset and slope."""
    slope, offset = statistics.linear_regression([p[0] for p in points], [p[1] for p in points])
    return offset, slope


def replacement(folder, profiler, sms):
    """Core cycles in which a CTA of n warps is replaced, a + b n, where two CTAs fill an SM (22 warps and more)."""
    by_warps = {}
    for ctas, warps, cycles in empty_kernels(folder, profiler):
        if warps >= 22:
            by_warps.setdefault(warps, []).append((ctas, cycles))
    return fit([(w, fit(v)[1] * 2 * sms) for w, v in by_warps.items() if len(v) > 1])


def launch(folder, sms):
    dispatch = [fit(v)[1] for v in _by_warps(folder).values() if len(v) > 1]
    base, each = replacement(folder, "ncu", sms)
    other, slower = replacement(folder, "nsys", sms)
    return {"launch.dispatch_interval_milli": round(1000 * statistics.median(dispatch)),
            "launch.warp_interval_milli": round(1000 * each),
            "a CTA's replacement at 1.1 GHz (ncu), ns": round(base / NCU_KHZ * 1e6),
            "a CTA's replacement at 1.755 GHz (nsys), ns": round(other / 1.755),
            "warp interval at 1.755 GHz (nsys), 1/1000 cycle": round(1000 * slower)}


def _by_warps(folder):
    found = {}
    for ctas, warps, cycles in empty_kernels(folder, "ncu"):
        if warps <= 21:
            found.setdefault(warps, []).append((ctas, cycles))
    return found


def derive(program, config, folder, gpu=None):
    """(key, derived value, value of the configuration or '')."""
    m, gpu = Machine(program, config), measured_gpu(folder, config, gpu)
    found = {**latencies(m, Chase(folder, gpu)), **bandwidth(m, folder, gpu), **write_batch(m, folder, gpu)}
    if gpu == "h100_pcie" and os.path.exists(os.path.join(folder, "h100_pcie_kernels.csv")):
        found.update(launch(folder, m.sms))
    has = {**m.values, "dram.write_high - dram.write_low": m.number("dram.write_high") - m.number("dram.write_low")}
    return [(key, value, has.get(key, "")) for key, value in found.items()]


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("program", metavar="LOCKSTEP", type=command_line.program)
    parser.add_argument("config", metavar="CONFIG", help="a GPU or a configuration file")
    parser.add_argument("--measured", metavar="DIR", required=True, type=command_line.folder, help="folder with the measured tables")
    parser.add_argument("--gpu", help="`gpu` of the measured rows; default: those of the GPU")
    arguments = parser.parse_args()
    page = Page()
    page.table(["key", "derived rows give", "configuration"],
               derive(arguments.program, arguments.config, arguments.measured, arguments.gpu))
    print("\n".join(page.lines))


if __name__ == "__main__":
    command_line.run(main)
