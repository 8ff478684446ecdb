#!/usr/bin/env python3
"""Runs by samples against full runs: the table of docs/studies/sampling.md.

FOLDER has the program `loops`, or with --long `long_kernels` (nvcc -arch=compute_75 --cudart shared of the files beside this one). Each
of its programs, and each further TRACE, is simulated once wholly and then once for each seed by samples, on one thread: on a V100, long
kernels on a tenth of one. FOLDER keeps traces and results (results.csv, long.csv): what is there is not run again. Times are CPU seconds.
"""
import csv
import json
import math
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

from command_line import Parser, file, folder, output_of, program, run, whole  # noqa: E402

V100 = ["-c", "v100"]
# 10 of 80 SMs with 4 of 32 partitions and so 768 KiB of L2: a wave is 40 CTAs of 512 threads, or 80 of 256.
TENTH = [*V100, "--set", "gpu.sms=10", "--set", "gpu.gpcs=4", "--set", "l2.partitions=4"]
TENTH_THREADS = 10 * 2048

COLUMNS = ["program", "seed", "launches", "timed", "ctas", "ctas_timed", "cycles", "estimate", "half_width", "seconds", "sampled_seconds", "waves"]


def simulate(lockstep, trace, options):
    """Returns stats.json, and CPU seconds."""
    with tempfile.TemporaryDirectory() as out:
        output_of([lockstep, "run", trace, "-q", "-t", "1", "-o", out, *options])
        with open(os.path.join(out, "stats.json")) as stats, open(os.path.join(out, "host.json")) as host:
            return json.load(stats), json.load(host)["cpu_seconds"]


def record(lockstep, binary, name, path):
    if not os.path.exists(path):
        output_of([lockstep, "record", path, "-q", "--", binary, name])
    return path


def traces(arguments):
    """Pairs of name and trace, recorded when they are asked for."""
    path = os.path.join(arguments.folder, "long_kernels" if arguments.long else "loops")
    for name in output_of([path]).split():
        if not arguments.only or name in arguments.only:
            yield name, record(arguments.lockstep, path, name, os.path.join(arguments.folder, name + ".lst"))
    for path in arguments.trace:
        yield os.path.splitext(os.path.basename(path))[0], path


def measure(arguments, name, trace, known):
    """Rows of one program that are not known yet."""
    missing = [seed for seed in range(1, arguments.seeds + 1) if (name, str(seed)) not in known]
    if not missing:
        return
    gpu = TENTH if arguments.long else V100
    full, seconds = simulate(arguments.lockstep, trace, gpu)
    cycles = sum(kernel["cycles"] for kernel in full["kernels"])
    for seed in missing:
        options = ["--sample", f"error={arguments.error},seed={seed},warm-up={arguments.warm_up}"]
        stats, sampled_seconds = simulate(arguments.lockstep, trace, gpu + options)
        sampling = stats["sampling"]
        estimate, half_width = sampling["estimates"]["cycles"]
        yield [name, seed, sampling["launches"], sampling["launches_timed"], sampling["ctas"], sampling["ctas_timed"], cycles, estimate,
               half_width, f"{seconds:.2f}", f"{sampled_seconds:.2f}", waves_of(full["kernels"][0])]


def waves_of(kernel):
    """Of CTAs that nothing but their threads limits, on the tenth of a V100."""
    return round(math.prod(kernel["grid"]) * math.prod(kernel["block"]) / TENTH_THREADS)


def percent(part, whole_):
    return 100 * part / whole_


def table(rows, long):
    """A row a program, over its seeds."""
    first = ["waves"] if long else ["launches", "timed"]
    print("| program |", " | ".join(first), "| CTAs timed, % | seconds | times less | error, % | half-width, % | inside |")
    print("|---" * (len(first) + 7) + "|")
    by_program = {}
    for row in rows:
        by_program.setdefault(row["program"], []).append({k: float(v) for k, v in row.items() if k != "program"})
    inside = errors = count = 0
    for name, runs in by_program.items():
        off = [percent(r["estimate"] - r["cycles"], r["cycles"]) for r in runs]
        held = [abs(r["estimate"] - r["cycles"]) <= r["half_width"] + 1 for r in runs]
        mean = lambda key: sum(r[key] for r in runs) / len(runs)  # noqa: E731
        print(f"| {name} | {' | '.join(f'{mean(column):.0f}' for column in first)} | {percent(mean('ctas_timed'), mean('ctas')):.1f} | "
              f"{mean('seconds'):.1f} | {mean('seconds') / mean('sampled_seconds'):.1f} | {max(off, key=abs):+.2f} | "
              f"{max(percent(r['half_width'], r['estimate']) for r in runs):.2f} | {sum(held)} of {len(held)} |")
        inside, count, errors = inside + sum(held), count + len(held), errors + sum(map(abs, off))
    if count:
        print(f"\n{len(by_program)} programs, {count} runs: {inside} intervals hold the true value ({percent(inside, count):.1f} %), "
              f"mean error {errors / count:.2f} %")


def main(arguments):
    path = os.path.join(arguments.folder, "long.csv" if arguments.long else "results.csv")
    rows = []
    if os.path.exists(path):
        with open(path, newline="") as f:
            rows = list(csv.DictReader(f))
    known = {(row["program"], row["seed"]) for row in rows}
    with open(path, "a", newline="") as f:
        out = csv.writer(f)
        if not rows:
            out.writerow(COLUMNS)
        for name, trace in traces(arguments):
            for row in measure(arguments, name, trace, known):
                out.writerow(row)
                f.flush()
                rows.append(dict(zip(COLUMNS, map(str, row))))
    table(rows, arguments.long)


def parse(argv):
    parser = Parser(__doc__)
    parser.add_argument("lockstep", type=program, metavar="LOCKSTEP")
    parser.add_argument("folder", type=folder, metavar="FOLDER")
    parser.add_argument("trace", type=file, nargs="*", metavar="TRACE")
    parser.add_argument("--seeds", type=whole(1), default=3)
    parser.add_argument("--error", default="2%")
    parser.add_argument("--warm-up", type=whole(0), default=4, dest="warm_up")
    parser.add_argument("--long", action="store_true", help="programs of one long kernel")
    parser.add_argument("--only", action="append", help="one of the programs; repeatable")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(lambda: main(parse(sys.argv[1:])))
