#!/usr/bin/env python3
"""Pages that arrive over time, from the timeline of a run (ISCA 2019 plots needle's accesses, page against cycle)."""
import json
import os
import tempfile

import lab

WIDTH, HEIGHT, EDGE = 760, 320, 40


def arrivals(lab_, name):
    """(kernel of all, page, pages) of each migration; kernels are counted by their start."""
    with tempfile.TemporaryDirectory() as folder:
        ini, timeline = os.path.join(folder, "gpu.ini"), os.path.join(folder, "timeline.json")
        with open(ini, "w") as f:
            f.write("\n".join(lab.SMART) + "\n")
        memory = int(lab_.memory_of(name, 110) * 256) * 4096
        lab.command_line.output_of([lab_.program, "run", lab_.trace(name), "-c", ini, "--quiet", "-o", folder, "--timeline", timeline,
                        "--gpu-memory", f"{memory}B", "--set", "uvm.evictor=tbn"])
        with open(timeline) as f:
            events = json.load(f)["traceEvents"]
    starts = sorted(e["ts"] for e in events if e["ph"] == "X" and "cycles" in e["args"])
    moves = [(e["ts"], int(e["args"]["address"], 16) // 4096, e["args"]["bytes"] // 4096) for e in events
             if e["name"] in ("migration", "prefetch")]
    first = min(page for _, page, _ in moves)
    return starts, [(sum(s <= ts for s in starts), page - first, pages) for ts, page, pages in moves]


def draw(path, kernels, moves):
    top = max(page + pages for _, page, pages in moves)
    x = lambda k: EDGE + (k - 1) / max(1, kernels - 1) * (WIDTH - 2 * EDGE)
    y = lambda p: HEIGHT - EDGE - p / top * (HEIGHT - 2 * EDGE)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{WIDTH / 2}" y="20" font-size="13" text-anchor="middle">pages that arrive (0 to {top}) by kernel (1 to {kernels})</text>']
    out += [f'<line x1="{x(k):.1f}" x2="{x(k):.1f}" y1="{y(p):.1f}" y2="{y(p + n):.1f}" stroke="#4c72b0" stroke-width="3"/>'
            for k, p, n in moves]
    with open(path, "w") as f:
        f.write("\n".join(out + ["</svg>"]) + "\n")


def main(lab_):
    for name in lab_.chosen(("nw",)):
        starts, moves = arrivals(lab_, name)
        rows = []
        for kernel in (1, 30, 60, 70, 100, len(starts)):
            mine = [(page, pages) for k, page, pages in moves if k == kernel]
            rows.append([kernel, len(mine), sum(n for _, n in mine), min((p for p, _ in mine), default=""),
                         max((p + n - 1 for p, n in mine), default="")])
        lab_.table("access_pattern", [f"{name} at 110 %, tbn for both: migrations while a kernel runs. Published: plots of kernels 60 "
                                      "and 70, the diagonal that all of the matrix's rows take part in."],
                   ["kernel", "migrations", "pages", "first page", "last page"], rows)
        draw(lab_.plot("access_pattern"), len(starts), moves)


if __name__ == "__main__":
    lab.start(main, __doc__)
