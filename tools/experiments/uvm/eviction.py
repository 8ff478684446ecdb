#!/usr/bin/env python3
"""Eviction policies at 110 %, prefetcher tbn until memory is short and none afterwards (ISCA 2019)."""
import lab
import plot

POLICIES = ("lru_4k", "random", "sequential", "tbn")
PUBLISHED = {
    "backprop": (18774, 18774, 18774, 18774),
    "bfs": (254615, 111737, 191478, 239962),
    "fdtd": (280049, 178595, 275394, 417614),
    "hotspot": (446000, 90367, 98939, 158923),
    "nw": (290000, 172000, 96000, 153000),
    "pathfinder": (44000, 44000, 44000, 44000),
    "srad": (336000, 176000, 192000, 195000),
}


def main(lab_):
    rows, series = [], {p: [] for p in POLICIES}
    names = lab_.chosen(PUBLISHED)
    for name in names:
        for policy, published in zip(POLICIES, PUBLISHED[name]):
            r = lab_.median(name, 110, prefetcher="tbn", prefetcher_oversubscribed="none", evictor=policy)
            evicted = r.uvm["evicted_dirty_pages"] + r.uvm["evicted_clean_pages"]
            series[policy].append(r.us)
            rows.append([name, policy, f"{r.us:.0f}", published, lab.difference(r.us, published), evicted, r.uvm["thrashed_pages"]])
    lab_.table("eviction", ["Time with the handling of faults, in us."],
               ["benchmark", "evictor", "us", "published", "difference", "evicted pages", "thrashed pages"], rows)
    plot.bars(lab_.plot("eviction"), "Evictors at 110 %", "us", names, series, logarithmic=True)


if __name__ == "__main__":
    lab.start(main, __doc__)
