#!/usr/bin/env python3
"""tbn for both at 110, 125 and 150 % (ISCA 2019)."""
import lab
import plot

PERCENTS = (110, 125, 150)
PUBLISHED = {
    "backprop": (7374, 7462, 7398),
    "bfs": (11780, 12760, 17086),
    "fdtd": (18214, 23003, 32911),
    "hotspot": (6563, 7655, 9173),
    "nw": (23400, 39000, 80500),
    "pathfinder": (9140, 9000, 9400),
    "srad": (5960, 7010, 8430),
}


def main(lab_):
    rows, series = [], {}
    names = lab_.chosen(PUBLISHED)
    for name in names:
        series[name] = []
        for percent, published in zip(PERCENTS, PUBLISHED[name]):
            r = lab_.median(name, percent, evictor="tbn")
            series[name].append((percent, r.us))
            rows.append([name, f"{percent} %", f"{r.us:.0f}", published, lab.difference(r.us, published), r.uvm["faults"], r.uvm["thrashed_pages"]])
    lab_.table("scalability", ["Time with the handling of faults, in us."],
               ["benchmark", "footprint / memory", "us", "published", "difference", "faults", "thrashed pages"], rows)
    plot.lines(lab_.plot("scalability"), "tbn + tbn", "us", "footprint / memory, %", series, logarithmic=True)


if __name__ == "__main__":
    lab.start(main, __doc__)
