#!/usr/bin/env python3
"""UVMSmart's own managed benchmarks (public_programs.sh builds them) on its GTX 1080 Ti: prefetchers, and evictors at 110 %.

ISCA 2019 and its logs. Inputs that have to be files are generated in the published sizes, so bfs searches another graph.
"""
import os

import lab
import plot

# Arguments, footprint in MB: the published ones.
PROGRAMS = {
    "backprop": (["131056"], 17.5625),
    "bfs": (["graph262144.txt"], 9.75),
    "fdtd": ([], 18.0625),
    "hotspot": (["1024", "2", "8", "temp_1024", "power_1024", os.devnull], 12.0),
    "nw": (["1024", "10"], 8.125),
    "pathfinder": (["50000", "200", "10"], 38.5),
    "srad": (["1024", "1024", "0", "127", "0", "127", "0.5", "4"], None),  # not published: what it allocates
}
# Prefetcher before and after over-subscription, evictor, memory in percent; then us by program.
CASES = (
    ("none, memory for all", ("none", "none", "lru_2m", 0), dict(
        backprop=317348, bfs=116942, fdtd=198157, hotspot=144226, nw=97000, pathfinder=460000, srad=192000)),
    ("sequential, memory for all", ("sequential", "sequential", "lru_2m", 0), dict(
        backprop=23868, bfs=8919, fdtd=15046, hotspot=10620, nw=7500, pathfinder=32500, srad=13700)),
    ("tbn, memory for all", ("tbn", "tbn", "lru_2m", 0), dict(
        backprop=7321, bfs=3845, fdtd=4884, hotspot=3398, nw=2720, pathfinder=9060, srad=4313)),
    ("sequential + sequential", ("tbn", "sequential", "sequential", 110), dict(
        backprop=7688, bfs=22925, fdtd=24880, hotspot=10216, nw=12100, pathfinder=11000, srad=14600)),
    ("tbn + tbn", ("tbn", "tbn", "tbn", 110), dict(
        backprop=7374, bfs=11780, fdtd=18214, hotspot=6563, nw=23400, pathfinder=9140, srad=5960)),
    ("tbn + lru_2m", ("tbn", "tbn", "lru_2m", 110), dict(
        backprop=7321, bfs=12865, fdtd=21061, hotspot=6756)),
)
FAULTS = dict(  # of the first three cases
    backprop=(6785, 460, 100), bfs=(2491, 162, 53), fdtd=(4224, 277, 58), hotspot=(3072, 192, 36))


def footprint(lab_, name, trace):
    if PROGRAMS[name][1]:
        return PROGRAMS[name][1]
    return lab_.run(trace, lab.SMART, prefetcher="tbn", prefetcher_oversubscribed="tbn", evictor="lru_2m").uvm["footprint_bytes"] / 2 ** 20


def main(lab_):
    rows, errors = [], {case: {} for case, _, _ in CASES}
    for name in lab_.chosen(PROGRAMS):
        trace = lab_.public_trace(name, PROGRAMS[name][0])
        for number, (case, (before, after, evictor, percent), published) in enumerate(CASES):
            if name not in published:
                continue
            memory = footprint(lab_, name, trace) * 100 / percent if percent else None
            r = lab_.run(trace, lab.SMART, memory, prefetcher=before, prefetcher_oversubscribed=after, evictor=evictor)
            errors[case][name] = r.us / published[name]
            faults = FAULTS[name][number] if number < 3 and name in FAULTS else ""
            rows.append([name, case, f"{r.us:.0f}", published[name], f"{100 * (errors[case][name] - 1):+.1f} %", r.uvm["faults"],
                         faults, r.uvm["thrashed_pages"]])
    means = ", ".join(f"{case} {lab.geometric_mean(found.values()):.2f}" for case, found in errors.items() if found)
    within = [abs(e - 1) <= 0.15 for found in errors.values() for e in found.values()]
    lab_.table("public_programs", [f"{sum(within)} of {len(within)} times are within 15 % of the published ones. Geometric means of "
                                   f"ours over published: {means}."],
               ["program", "policies", "us", "published", "difference", "faults", "published", "thrashed pages"], rows)
    names = lab_.chosen(PROGRAMS)
    plot.bars(lab_.plot("public_programs"), "UVMSmart's own programs: ours over published", "ratio", names,
              {case: [found.get(n) for n in names] for case, found in errors.items()})


if __name__ == "__main__":
    lab.start(main, __doc__)
