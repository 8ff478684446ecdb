#!/usr/bin/env python3
"""A share of the oldest units is not evicted: 0, 10 and 20 %, tbn for both, at 110 % (ISCA 2019)."""
import lab
import plot

SHARES = (0, 10, 20)
PUBLISHED = {
    "backprop": (7374, 7341, 7425),
    "bfs": (11780, 10826, 7949),
    "fdtd": (18214, 15880, 14358),
    "hotspot": (6563, 5978, 6549),
    "nw": (23400, 21100, 21500),
    "srad": (5960, 5050, 5100),
}


def main(lab_):
    rows, series = [], {f"{s} %": [] for s in SHARES}
    names = lab_.chosen(PUBLISHED)
    for name in names:
        for share, published in zip(SHARES, PUBLISHED[name]):
            r = lab_.median(name, 110, evictor="tbn", reserve_percent=share)
            series[f"{share} %"].append(r.us)
            rows.append([name, f"{share} %", f"{r.us:.0f}", published, lab.difference(r.us, published), r.uvm["thrashed_pages"]])
    lab_.table("reservation", ["Time with the handling of faults, in us."],
               ["benchmark", "reserved", "us", "published", "difference", "thrashed pages"], rows)
    plot.bars(lab_.plot("reservation"), "Reserved share of the oldest units", "us", names, series)


if __name__ == "__main__":
    lab.start(main, __doc__)
