#!/usr/bin/env python3
"""The driver's batches: how large, how many duplicates, against the limit of a batch; replay policies; with and without its prefetcher.

Beside them what is measured on a Tesla T4 (driver 595.71, batches by number of faults) and on a Titan V (uvm-eval, SC'21).
"""
import lab
import plot

V100 = ["include = v100"]
LIMITS = (256, 512, 1024, 2048, 4096)
REPLAYS = ("block", "batch", "batch_flush", "once")


def row(name, what, r):
    c = r.uvm
    batches = c["batches"] or 1
    return [name, what, f"{r.us:.0f}", c["batches"], f"{c['batch_entries'] / batches:.1f}", c["largest_batch"],
            f"{100 * c['batch_duplicates'] / (c['batch_entries'] or 1):.0f} %", f"{c['batch_blocks'] / batches:.1f}",
            f"{c['bytes_to_device'] / 1024 / batches:.0f}", c["fault_replays"]]


def main(lab_):
    rows, series = [], {f"limit {limit}": [] for limit in LIMITS}
    names = lab_.chosen(("triad", "hotspot", "bfs", "ra"))
    for name in names:
        trace = lab_.trace(name, ordered=False)
        for limit in LIMITS:
            r = lab_.run(trace, V100, batch_faults=limit)
            rows.append(row(name, f"batches of {limit}", r))
            series[f"limit {limit}"].append(100 * r.uvm["batch_duplicates"] / (r.uvm["batch_entries"] or 1))
        rows += [row(name, f"replay {replay}", lab_.run(trace, V100, replay=replay)) for replay in REPLAYS]
        rows.append(row(name, "no prefetcher", lab_.run(trace, V100, prefetcher="none", prefetcher_oversubscribed="none")))
    lab_.table("driver_batches", [
        "A V100 with the driver's default policies. Published: a uTLB exposes 56 faults at once (Titan V); T4: mean of 1.0 to 5.7",
        "faults a batch for SGEMM, stencil and STREAM, 8 to 10 for a breadth-first search, 17 to 18 for cuFFT; at most 74. Those are",
        "hardly faulting pages: a stencil of 24000 x 24000, which has thousands of warps in flight, gives 1.15 of them, each costs what",
        "the driver needs for a block, and the batches of most runs are multiples of 1,820, the length of a log. Where they are the",
        "2 MB blocks of a batch, ours is the column of that name."],
        ["program", "setting", "us", "batches", "faults a batch", "largest", "duplicates", "2 MB blocks a batch",
         "KiB a batch", "replays"], rows)
    plot.bars(lab_.plot("driver_batches"), "Duplicates against the limit of a batch", "% of faults", names, series)


if __name__ == "__main__":
    lab.start(main, __doc__)
