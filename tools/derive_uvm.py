#!/usr/bin/env python3
"""Derives the costs of the driver's batches from a table of batch times by number of faults, in Markdown.

  tools/derive_uvm.py TABLE   (policy, app, arg, faults_in_batch, n_batches, median_us, ...)

A line through the rows that may be used (results.uvm_batches.derives), by relative least squares: time = a + b * faults. A
fault is taken to bring 64 KiB, what the driver's prefetch rule fills at least, in a 2 MB block of its own. So
uvm.interrupt_ns + uvm.batch_ns = a, and uvm.block_ns = b - 64 KiB * KIB_US.
"""

import command_line
from results.uvm_batches import KIB_US, derives, read


def line(rows):
    """(a, b) that minimise the sum of ((a + b * faults) / time - 1)^2."""
    xx = xy = yy = x = y = 0.0
    for r in rows:
        u, v = 1 / r.us, r.faults / r.us
        xx, xy, yy, x, y = xx + u * u, xy + u * v, yy + v * v, x + u, y + v
    det = xx * yy - xy * xy
    return (x * yy - y * xy) / det, (y * xx - x * xy) / det


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("table", metavar="TABLE", type=command_line.file, help="a CSV file, as uvm_t4_batch_latency.csv")
    path = parser.parse_args().table
    rows = [r for r in read(path) if derives(r) and r.us > 0]
    if len({r.faults for r in rows}) < 2:
        raise command_line.Failure(f"{path}: of the rows that may be used fewer than two differ in faults_in_batch")
    a, b = line(rows)
    print(f"{len(rows)} rows: {a:.1f} us a batch, {b:.1f} us a fault\n\n| key | value |\n|---|---|")
    print(f"| uvm.interrupt_ns + uvm.batch_ns | {1000 * a:.0f} |\n| uvm.block_ns | {1000 * (b - 64 * KIB_US):.0f} |")


if __name__ == "__main__":
    command_line.run(main)
