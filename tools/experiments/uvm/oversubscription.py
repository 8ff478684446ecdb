#!/usr/bin/env python3
"""Over-subscription with LRU of 4 KB and no prefetcher once memory is short, and evicting ahead (ISCA 2019)."""
import lab
import plot

# Time over that without over-subscription: 110 %, 125 %, evicting ahead at 95 % and at 90 % (both 110 %).
PUBLISHED = {
    "backprop": (2.6, 5.8, 2.6, 4.2),
    "bfs": (66, 123, 94, 119),
    "fdtd": (57, 208, 154, 192),
    "hotspot": (131, 135, 131, 135),
    "nw": (106, 286, 181, 256),
    "pathfinder": (5, 10.5, 7.5, 9),
    "srad": (78, 78, 78, 78),
}
CASES = ((110, 0), (125, 0), (110, 5), (110, 10))


def main(lab_):
    rows, series = [], {f"{p} %" + (f", {100 - b} %" if b else ""): [] for p, b in CASES}
    names = lab_.chosen(PUBLISHED)
    for name in names:
        base = lab_.median(name, 0, prefetcher="tbn")
        for (percent, ahead), published, key in zip(CASES, PUBLISHED[name], series):
            r = lab_.median(name, percent, prefetcher="tbn", prefetcher_oversubscribed="none", evictor="lru_4k",
                            **({"free_buffer_percent": ahead} if ahead else {}))
            ratio = r.us / base.us
            series[key].append(ratio)
            rows.append([name, f"{percent} %", f"{ahead} %", f"{r.us:.0f}", f"{ratio:.1f}", published, lab.difference(ratio, published), r.uvm["transfers_4k"]])
    lab_.table("oversubscription", ["Ratio: to the time with memory for all."],
               ["benchmark", "footprint / memory", "kept free", "us", "ratio", "published", "difference", "transfers of 4 KiB"], rows)
    plot.bars(lab_.plot("oversubscription"), "LRU of 4 KB, no prefetcher when memory is short", "times slower", names, series,
              logarithmic=True)


if __name__ == "__main__":
    lab.start(main, __doc__)
