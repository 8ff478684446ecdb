"""Microbenchmarks of the memory system: traces of our generator in the shape of te42kyfo/gpu-benches, simulated.

Each function gives one figure of one configuration; `tables` puts them beside the measurements of a folder.
A figure comes from the difference of two kernels of one trace, so that launch and drain cancel out, and from a part of
what hardware runs where the rest would repeat it:
* chase: one lap in parallel warms the L2 (none for footprints beyond 1.7 times the L2, where nothing survives a lap),
  then 1024 dependent loads of the next lap;
* cache: footprints that fit 0.9 of the L1 run on eight SMs, which do not interact; larger ones on all, with 384 loads a
  thread when they exceed the L1 by far;
* l2: some resident sets of CTAs instead of 200,000 CTAs, the first of them staggered, and more where the L2 keeps a part;
* stream: some megabytes an array instead of 1 GiB, after as many that the L2 is full of the kernel's own data.
"""
import functools
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

from command_line import Failure, table
from results.common import Context
from results.split import is_check

# Rows of hw/*.csv that belong to a configuration: their `gpu`.
MEASURED_AS = {"v100": "v100", "a100": "a100_80", "h100_pcie": "h100_pcie"}
STREAM_KERNELS = {"init": 1, "read": 1, "scale": 2, "triad": 3, "3pt": 2, "5pt": 2}  # arrays moved
CACHE_THREADS, L2_PIECE, SMALL_SMS = 256, 512 * 1024, 8
# gpu-latency in the two forms that made the tables: gpu-latency/main.cu of te42kyfo/gpu-benches at f0b21a2 (January 2023)
# runs 64 threads over elements 64 bytes apart, of RRZE-HPC/gpu-benches from 3be3ab1 (October 2024) on one thread over
# elements of 128 bytes. Tables that RRZE-HPC did not take again (H100, A100 40 GB) are those of te42kyfo.
CHASE_BEFORE, CHASE_SINCE = {"threads": 64, "stride": 64}, {"threads": 1, "stride": 128}
TAKEN_AGAIN = ("v100", "a100_80", "a40", "l40")


class Row:
    """One measured figure and ours. Half of the rows, drawn by a hash of their names, may be used to derive parameters."""

    def __init__(self, key, measured, ours):
        self.key, self.measured, self.ours = key, measured, ours

    @property
    def error(self):
        return self.ours / self.measured - 1

    @property
    def derives(self):
        return not is_check(self.key)


class Table:
    """rows of one unit; `limit` is what the mean of the absolute errors may be, None where there is no goal."""

    def __init__(self, title, unit, rows, limit=None, notes=()):
        self.title, self.unit, self.rows, self.limit, self.notes = title, unit, rows, limit, list(notes)


class Machine:
    """A configuration with `settings` (section.key=value) on top, and the runs of it."""

    def __init__(self, program, config, settings=()):
        self.context = Context(program, ".")
        self.config = config
        self.settings = [word for setting in settings for word in ("--set", setting)]
        text = self.context.call("config", config)
        self.values = {}
        group = ""
        for line in text.splitlines():
            line = line.split(";")[0].strip()
            if line.startswith("["):
                group = line[1:-1]
            elif "=" in line:
                key, value = (part.strip() for part in line.split("=", 1))
                self.values[f"{group}.{key}"] = value
        self.sms = self.number("gpu.sms")
        self.core_ghz = self.number("clock.core_khz") / 1e6
        self.l1 = self.number("l1.bytes")
        self.l2 = self.number("l2.partitions") * self.number("l2.slices_per_partition") * self.number("l2.slice_bytes")
        self.chase = functools.lru_cache(None)(self._chase)
        self.pieces = functools.lru_cache(None)(self._pieces)

    def number(self, key):
        return int(self.values[key].split(",")[-1].split()[0])

    def cycles(self, kind, **options):
        """Cycles of each kernel of a trace."""
        with tempfile.TemporaryDirectory() as folder:
            words = [w for k, v in options.items() for w in (f"--{k}", str(v))]
            self.context.synth(folder, kind, *words)
            # The measured programs have been through their arrays before; ours are too short for it.
            stats = self.context.run(folder, self.config, "--threads", "1", "--set", "tlb.miss_latency=0",
                                     *self.settings).stats
            return [k["cycles"] for k in stats["kernels"]]

    def gigabytes(self, count, cycles):
        return count / cycles * self.core_ghz

    def _chase(self, footprint, threads, stride):
        """Cycles a load of a pointer chase over `footprint` bytes."""
        elements = max(footprint // stride, 1)
        if footprint <= 2 * self.l1:  # the L1 is empty when a kernel starts: a lap for it, too
            first = -(-elements // 32) * 32
            options = dict(warm=elements, first=first, second=first + 1024)
        else:
            options = dict(warm=elements if footprint <= 1.7 * self.l2 else 0, first=256, second=1280)
        cycles = self.cycles("pointer_chase", footprint=elements * stride, threads=threads, stride=stride, **options)
        return (cycles[-1] - cycles[-2]) / 1024

    def cache(self, footprint):
        """GB/s of all SMs reading the same array, gpu-cache."""
        lap = max(footprint // (4 * CACHE_THREADS), 1)
        sms = self.sms
        if footprint <= 0.9 * self.l1:
            sms = min(SMALL_SMS, sms)
            first, more = lap + 256, 1024
        elif footprint <= 2.5 * self.l1:
            first, more = 3 * lap, 4 * lap
        else:
            first, more = 128, 256
        warm = footprint if footprint <= 1.2 * self.l2 else 0
        cycles = self.cycles("cache_read", ctas=sms, threads=CACHE_THREADS, footprint=lap * 4 * CACHE_THREADS,
                             warm=warm, first=first, second=first + more)
        return self.gigabytes(self.sms * 4 * CACHE_THREADS * more, cycles[-1] - cycles[-2])

    def l2_read(self, footprint):
        """GB/s of CTAs reading pieces of 512 KiB, gpu-l2-cache. With twice as many pieces as CTAs, and 2.5 times the L2,
        nothing is there when it is read again, so one run stands for all that is larger."""
        resident = 2 * self.sms
        pieces = min(footprint // L2_PIECE, max(int(2.5 * self.l2) // L2_PIECE, 2 * resident))
        held = "all" if footprint <= 0.6 * self.l2 else "part" if footprint <= 3 * self.l2 else "none"
        return self.pieces(pieces, resident, held)

    def _pieces(self, pieces, resident, held):
        """`held`: what the L2 keeps of the array until it is read again. All: the first kernel brings the pieces into all of
        its parts, and the CTAs that are counted begin when the staggered ones are through. A part: CTAs that find theirs
        overtake others, so that it takes some thousand of the 200,000 CTAs until the part is what it stays."""
        half = resident // 2
        warm, first, second = {"all": (max(pieces, resident), 5 * half, 9 * half),
                               "part": (resident, 8 * half, 16 * half),
                               "none": (0, 3 * half, 5 * half)}[held]
        cycles = self.cycles("l2_read", pieces=pieces, resident=resident, warm=warm, first=first, second=second)
        return self.gigabytes((second - first) * L2_PIECE, cycles[-1] - cycles[-2])

    def stream(self, kernel, block_sizes):
        """GB/s of a STREAM kernel with two CTAs per SM, for each CTA size."""
        threads = sorted(block_sizes)
        step = min((b - a for a, b in zip(threads, threads[1:])), default=32)
        shared = self.number("l1.shared_carveouts_kib") * 1024 // 2 - self.number("sm.shared_reserved")
        arrays, resident, waves, least = STREAM_KERNELS[kernel], 2 * self.sms, 4, 1 << 20
        fill = 0 if kernel == "read" else self.l2 + (self.l2 >> 2)
        cycles = self.cycles("stream", kernel=kernel, fill=fill, threads=threads[0], most=threads[-1], step=step,
                             resident=resident, shared=shared, waves=waves, bytes=least)
        cycles = cycles[1 if fill else 0:]
        result = {}
        for i, size in enumerate(range(threads[0], threads[-1] + 1, step)):
            ctas = max(waves * resident, -(-(-(-least // (size * 8))) // resident) * resident)
            moved = 2 * ctas * size * 8 * arrays
            result[size] = self.gigabytes(moved, cycles[2 * i + 1] - cycles[2 * i])
        return result


# Columns of the tables of measurements: texts, numbers.
COLUMNS = {
    "pointer_chase_latency.csv": (("source", "gpu"), ("footprint_kB", "latency_cycles")),
    "cache_bandwidth.csv": (("source", "bench", "gpu"), ("footprint_kB", "GBps")),
    "stream_bandwidth.csv": (("source", "gpu"), ("blockSize", "occ_pct", *STREAM_KERNELS)),
}


def read_rows(folder, name, **wanted):
    texts, numbers = COLUMNS[name]
    return [r for r in table(os.path.join(folder, name), texts, numbers) if all(r[k] == v for k, v in wanted.items())]


def measured_gpu(folder, config, gpu):
    """`gpu` of the measured rows: as given, or that of the GPU. There must be rows of it."""
    gpu = gpu or MEASURED_AS.get(config, config)
    path = os.path.join(folder, "pointer_chase_latency.csv")
    known = sorted({r["gpu"] for r in table(path, ("gpu",))})
    if gpu not in known:
        raise Failure(f"{path}: no rows of '{gpu}'; --gpu is one of {', '.join(known)}")
    return gpu


def distinct(rows, field):
    """One row a value of `field`, in the order of the table."""
    return list({r[field]: r for r in reversed(rows)}.values())[::-1]


def with_transitions(rows, every):
    """Every n-th row, and those next to which the latency changes by more than 5 %."""
    values = [float(r["latency_cycles"]) for r in rows]
    steep = [abs(b / a - 1) > 0.05 for a, b in zip(values, values[1:])]
    return [r for i, r in enumerate(rows) if i % every == 0 or any(steep[max(i - 1, 0):i + 1])]


def chase_shape(source, gpu):
    """threads and stride with which a table was taken."""
    return CHASE_SINCE if source == "RRZE-HPC" and gpu in TAKEN_AGAIN else CHASE_BEFORE


def chase_tables(machine, folder, gpu, pool, every):
    tables = []
    for source in ("te42kyfo", "RRZE-HPC"):
        rows = read_rows(folder, "pointer_chase_latency.csv", gpu=gpu, source=source)
        rows = with_transitions(distinct(rows, "footprint_kB"), every)
        shape = chase_shape(source, gpu)
        ours = list(pool.map(lambda r, s=shape: machine.chase(int(float(r["footprint_kB"]) * 1024), **s), rows))
        tables.append(Table(f"Pointer chase, {source}", "cycles",
                            [Row(f"{gpu}+{r['footprint_kB']}", float(r["latency_cycles"]), o)
                             for r, o in zip(rows, ours)]))
    return tables


def bandwidth_tables(machine, folder, gpu, pool, every):
    tables = []
    for bench, figure in (("gpu-cache", machine.cache), ("gpu-l2-cache", machine.l2_read)):
        rows = read_rows(folder, "cache_bandwidth.csv", gpu=gpu, bench=bench, source="te42kyfo")
        rows = distinct(rows, "footprint_kB")[::every]
        if not rows:
            continue
        ours = list(pool.map(lambda r, f=figure: f(int(r["footprint_kB"].split(".")[0]) * 1024), rows))
        tables.append(Table(f"Bandwidth, {bench}", "GB/s",
                            [Row(f"{gpu}+{r['footprint_kB']}", float(r["GBps"]), o) for r, o in zip(rows, ours)], 0.1))
    return tables


def stream_tables(machine, folder, gpu, pool, every):
    rows = read_rows(folder, "stream_bandwidth.csv", gpu=gpu, source="te42kyfo")[::every]
    sizes = [int(r["blockSize"]) for r in rows]
    if not sizes:
        return []
    ours = dict(zip(STREAM_KERNELS, pool.map(lambda k: machine.stream(k, sizes), STREAM_KERNELS)))
    return [Table(f"STREAM, {kernel}", "GB/s",
                  [Row(f"{gpu}+{r['occ_pct']}", float(r[kernel]), ours[kernel][int(r["blockSize"])]) for r in rows], 0.1)
            for kernel in STREAM_KERNELS]


GROUPS = {"chase": chase_tables, "bandwidth": bandwidth_tables, "stream": stream_tables}


def tables(program, config, folder, gpu=None, jobs=1, every=1, groups=tuple(GROUPS)):
    """Tables of a configuration beside the measurements of `gpu` in `folder`; every n-th row of each."""
    gpu = measured_gpu(folder, config, gpu)
    machine = Machine(program, config)
    with ThreadPoolExecutor(jobs) as pool:
        return [t for g in groups for t in GROUPS[g](machine, folder, gpu, pool, every)]
