#!/usr/bin/env python3
"""Prefetchers without over-subscription: time and faults of UVMSmart's four on its GTX 1080 Ti (ISCA 2019)."""
import lab
import plot

POLICIES = ("none", "random", "sequential", "tbn")
# us; where the publication's log gives it, faults.
PUBLISHED = {
    "backprop": ((317348, 6785), (224346, 4718), (23868, 460), (7321, 100)),
    "bfs": ((116942, 2491), (82505, 1725), (8919, 162), (3845, 53)),
    "fdtd": ((198157, 4224), (144173, 3018), (15046, 277), (4884, 58)),
    "hotspot": ((144226, 3072), (102153, 2137), (10620, 192), (3398, 36)),
    "nw": ((97000, None), (69500, None), (7500, None), (2720, None)),
    "pathfinder": ((460000, None), (323000, None), (32500, None), (9060, None)),
    "srad": ((192000, None), (135000, None), (13700, None), (4313, None)),
    "triad": ((None, None),) * 4,
    "stream": ((None, 3072), (None, None), (None, 192), (None, 36)),  # what follows from 12 MB and the rules
    "ra": ((None, None),) * 4,
}


def main(lab_):
    rows, series = [], {p: [] for p in POLICIES}
    names = lab_.chosen(PUBLISHED)
    for name in names:
        first = None
        for policy, (us, faults) in zip(POLICIES, PUBLISHED[name]):
            r = lab_.median(name, 0, prefetcher=policy, prefetcher_oversubscribed=policy)
            first = first or r.us
            series[policy].append(r.us)
            published_first = PUBLISHED[name][0][0]
            rows.append([name, policy, f"{r.us:.0f}", us or "", lab.difference(r.us, us), r.uvm["faults"], faults or "", r.uvm["transfers"],
                         f"{first / r.us:.2f}", f"{published_first / us:.2f}" if us else ""])
    lab_.table("prefetchers", ["Time with the handling of faults, in us; none / this, the gain over no prefetcher."],
               ["benchmark", "prefetcher", "us", "published", "difference", "faults", "published", "transfers", "gain", "published"], rows)
    plot.bars(lab_.plot("prefetchers"), "Prefetchers, memory for all", "us", names, series, logarithmic=True)


if __name__ == "__main__":
    lab.start(main, __doc__)
