#!/usr/bin/env python3
"""Prints the microbenchmark table of a configuration beside the measured one, in Markdown.

  tools/microbench.py build/release/lockstep CONFIG --measured DIR [--group G]... [--every N] [--rows] [--jobs N]

DIR holds pointer_chase_latency.csv, cache_bandwidth.csv and stream_bandwidth.csv (columns as in docs/add-a-gpu.md).
For each table: mean, median, p90 and maximum of the absolute errors, of all rows, of the half from which parameters may
be derived, and of the other half, which only checks.
"""
import os

import command_line
import microbench_memory
import microbench_sm
from microbench_memory import GROUPS
from results.common import Page, percent, quantiles


def summary_row(table, rows):
    mean, median, p90, worst = quantiles([r.error for r in rows])
    return [table, len(rows), *(f"{100 * value:.1f} %" for value in (mean, median, p90, worst))]


def halves(table):
    yield "all", table.rows
    yield "derive", [r for r in table.rows if r.derives]
    yield "check", [r for r in table.rows if not r.derives]


def write_tables(page, tables, rows=False):
    """A summary of all tables; with `rows` each table's rows as well."""
    lines = [summary_row(f"{t.title}, {name}" if name != "all" else f"**{t.title}**", part)
             for t in tables for name, part in halves(t) if part]
    page.table(["table", "rows", "mean", "median", "p90", "maximum"], lines)
    for table in tables:
        if not rows:
            continue
        page.text(f"### {table.title}")
        page.table(["footprint or occupancy", f"measured, {table.unit}", f"Lockstep, {table.unit}", "error", "half"],
                   [[r.key.split("+")[1], f"{r.measured:,.1f}", f"{r.ours:,.1f}", percent(r.error),
                     "derive" if r.derives else "check"] for r in table.rows])


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("program", metavar="LOCKSTEP", type=command_line.program)
    parser.add_argument("config", metavar="CONFIG", help="a GPU or a configuration file")
    parser.add_argument("--measured", metavar="DIR", required=True, type=command_line.folder, help="folder with the measured tables")
    parser.add_argument("--gpu", help="`gpu` of the measured rows; default: those of the GPU")
    parser.add_argument("--group", action="append", choices=[*GROUPS, "sm"], default=[], help="may be repeated")
    parser.add_argument("--every", type=command_line.whole(1), default=1, metavar="N", help="every N-th row of each table")
    parser.add_argument("--rows", action="store_true", help="print every row")
    parser.add_argument("--jobs", type=command_line.whole(1), default=len(os.sched_getaffinity(0)), metavar="N", help="runs at a time")
    arguments = parser.parse_args()
    groups = arguments.group or [*GROUPS, "sm"]
    tables = microbench_memory.tables(arguments.program, arguments.config, arguments.measured, arguments.gpu,
                                      arguments.jobs, arguments.every, [g for g in groups if g in GROUPS])
    page = Page()
    page.text(f"## Microbenchmarks of {arguments.config}")
    if tables:
        write_tables(page, tables, arguments.rows)
    if "sm" in groups:
        microbench_sm.write(page, arguments.program, arguments.config, arguments.measured)
    print("\n".join(page.lines))


if __name__ == "__main__":
    command_line.run(main)
