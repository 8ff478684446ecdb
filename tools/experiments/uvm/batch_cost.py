#!/usr/bin/env python3
"""Time of the driver's batches: the model's terms against a Tesla T4's by number of faults, and a Titan V's two fits.

Half of the T4's rows may have chosen uvm.batch_ns and uvm.block_ns (tools/derive_uvm.py); errors of both halves are given. A
fault is taken to bring 64 KiB in a 2 MB block of its own.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import lab
import plot
from results.common import error_summary
from results.uvm_batches import derives, read

WIRE_US, START_US = 0.084, 0.72  # uvm.link = um_affine: a KiB, and a transfer's start


class Costs:
    """uvm.* of a GPU, in us."""

    def __init__(self, program, gpu):
        text = lab.command_line.output_of([program, "config", gpu])
        values, group = {}, ""
        for line in text.splitlines():
            line = line.split(";")[0].strip()
            if line.startswith("["):
                group = line.strip("[]")
            elif "=" in line:
                key, value = (part.strip() for part in line.split("=", 1))
                values[f"{group}.{key}" if group else key] = value
        number = lambda key: float(values["uvm." + key].split()[0])
        self.fixed = (number("interrupt_ns") + number("batch_ns")) / 1000
        self.block, self.kib, self.evict = number("block_ns") / 1000, number("kib_ps") / 1e6, number("evict_ns") / 1000

    def batch(self, blocks, kib):
        """The driver's work, then each block's transfer."""
        return self.fixed + blocks * (self.block + START_US) + kib * (self.kib + WIRE_US)


def main(lab_):
    if not lab_.measured:
        raise lab.Failure("this experiment needs --measured FOLDER")
    costs = Costs(lab_.program, "v100")
    rows = read(os.path.join(lab_.measured, "uvm_t4_batch_latency.csv"))
    pair = lambda r: (r.us, costs.batch(r.faults, 64 * r.faults))
    table, ours, measured = [], [], []
    for low, high in ((1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 32), (33, 64)):
        check = [r for r in rows if low <= r.faults <= high and not derives(r)]
        model = statistics.mean(costs.batch(r.faults, 64 * r.faults) for r in check)
        median = statistics.median(r.us for r in check)
        mean_faults = statistics.mean(r.faults for r in check)
        ours.append((mean_faults, model))
        measured.append((mean_faults, median))
        table.append([f"T4, {low} to {high} faults" if high > low else f"T4, {low} fault" + ("s" if low > 1 else ""), len(check),
                      f"{model:.0f}", f"{median:.0f}", f"{100 * (statistics.mean(model / r.us for r in check) - 1):+.0f} %"])
    # Titan V, SGEMM without prefetching: 40 us + 1.24 us per KiB up to 780 KiB in 45 blocks (uvm-eval, SC'21, read off a plot).
    for name, blocks, kib, us in (("Titan V, 4 KiB faults, 780 KiB in 45 blocks", 45, 780, 40 + 1.24 * 780),
                                  ("Titan V, prefetching, 1 MiB in a block", 1, 1024, 200),
                                  ("Titan V, prefetching, 8 MiB in 4 blocks", 4, 8192, 1000)):
        table.append([name, 1, f"{costs.batch(blocks, kib):.0f}", f"{us:.0f}", f"{100 * (costs.batch(blocks, kib) / us - 1):+.0f} %"])
    lab_.table("batch_cost", [
        "Time of a batch, us; v100's terms. Rows of the table are those kept as a check. T4, rows that may have been used: "
        + error_summary(lab_.program, [pair(r) for r in rows if derives(r)]) + " Kept as a check: "
        + error_summary(lab_.program, [pair(r) for r in rows if not derives(r)])],
        ["batches", "rows", "us", "measured (median)", "mean difference"], table)
    plot.lines(lab_.plot("batch_cost"), "The driver's batches, rows kept as a check", "us", "faults in a batch",
               {"model": ours, "T4": measured})


if __name__ == "__main__":
    lab.start(main, __doc__)
