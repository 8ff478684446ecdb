#!/usr/bin/env python3
"""UVMSmart's own managed benchmarks (--public) beside all that is published about them.

ISCA 2019; faults and pages from its logs, where those can be read. Inputs that have to be files are public_inputs.py's.
"""
import combinations
import eviction
import lab
import oversubscription
import plot
import prefetchers
import reservation
import scalability

# Faults and pages migrated more than once, by case and program.
COUNTS = {
    "none, memory for all": dict(backprop=(6785, 0), bfs=(2491, 0), fdtd=(4224, 0), hotspot=(3072, 0)),
    "random, memory for all": dict(backprop=(4718, 0), bfs=(1725, 0), fdtd=(3018, 0), hotspot=(2137, 0)),
    "sequential, memory for all": dict(backprop=(460, 0), bfs=(162, 0), fdtd=(277, 0), hotspot=(192, 0)),
    "tbn, memory for all": dict(backprop=(100, 0), bfs=(53, 0), fdtd=(58, 0), hotspot=(36, 0)),
    "none + lru_4k, 110 %": dict(backprop=(347, 0), bfs=(5419, 5366), fdtd=(5951, 5639)),
    "none + lru_4k, 125 %": dict(backprop=(857, 0), bfs=(10057, 9622)),
    "none + lru_4k, 110 %, 5 % free": dict(backprop=(347, 0), bfs=(7687, 7634)),
    "none + lru_4k, 110 %, 10 % free": dict(backprop=(602, 0), bfs=(9789, 9354)),
    "none + random, 110 %": dict(backprop=(347, 0), bfs=(2364, 2311), fdtd=(3784, 3472), hotspot=(1908, 1617)),
    "none + sequential, 110 %": dict(backprop=(347, 0), bfs=(4075, 4022), fdtd=(5849, 5537), hotspot=(2083, 1792)),
    "none + tbn, 110 %": dict(backprop=(347, 0), bfs=(5109, 5056), fdtd=(8889, 8577), hotspot=(3363, 3072)),
    "random + random, 110 %": dict(backprop=(275, 0), bfs=(2210, 2352), fdtd=(4230, 4220), hotspot=(1776, 1681)),
    "sequential + sequential, 110 %": dict(backprop=(108, 0), bfs=(429, 5952), fdtd=(447, 5936), hotspot=(170, 1872)),
    "tbn + tbn, 110 %": dict(backprop=(100, 0), bfs=(143, 9152), fdtd=(226, 13888), hotspot=(72, 3072)),
    "tbn + lru_2m, 110 %": dict(backprop=(100, 0), bfs=(175, 9760), fdtd=(230, 13888), hotspot=(72, 3072)),
    "tbn + lru_2m, 125 %": dict(backprop=(99, 0), bfs=(188, 10544), fdtd=(280, 18496), hotspot=(108, 6144)),
    "tbn + tbn, 125 %": dict(backprop=(100, 0), bfs=(181, 10000), fdtd=(283, 18496), hotspot=(84, 4608)),
    "tbn + tbn, 150 %": dict(backprop=(99, 0), bfs=(245, 11872), fdtd=(431, 28400), hotspot=(111, 6192)),
    "tbn + tbn, 110 %, 10 % reserved": dict(backprop=(100, 0), bfs=(130, 7504), fdtd=(181, 11008), hotspot=(63, 2448)),
    "tbn + tbn, 110 %, 20 % reserved": dict(backprop=(100, 0), bfs=(95, 4688), fdtd=(137, 12000), hotspot=(72, 3072)),
}
LRU_2M = (dict(backprop=7321, bfs=12865, fdtd=21061, hotspot=6756), dict(backprop=7354, bfs=14250, fdtd=25400, hotspot=9946))


def column(table, place, first=lambda entry: entry):
    return {name: first(values[place]) for name, values in table.items()}


def cases():
    """Case: settings, footprint / memory in percent (0: memory for all), published us by program."""
    found = {}
    for i, policy in enumerate(prefetchers.POLICIES):
        found[f"{policy}, memory for all"] = (dict(prefetcher=policy, prefetcher_oversubscribed=policy), 0,
                                              column(prefetchers.PUBLISHED, i, lambda entry: entry[0]))
    base = found["tbn, memory for all"][2]
    without = dict(prefetcher="tbn", prefetcher_oversubscribed="none")
    for i, (percent, ahead) in enumerate(oversubscription.CASES):
        ratios = column(oversubscription.PUBLISHED, i)
        found[f"none + lru_4k, {percent} %" + (f", {ahead} % free" if ahead else "")] = (
            dict(without, evictor="lru_4k", **({"free_buffer_percent": ahead} if ahead else {})), percent,
            {name: ratio * base[name] for name, ratio in ratios.items()})
    for i, policy in enumerate(eviction.POLICIES):  # where a time is published, not only a ratio, it counts
        found[f"none + {policy}, 110 %"] = (dict(without, evictor=policy), 110, column(eviction.PUBLISHED, i))
    for i, (after, evictor) in enumerate(combinations.PAIRS):
        if after != "none":
            found[f"{after} + {evictor}, 110 %"] = (dict(prefetcher="tbn", prefetcher_oversubscribed=after, evictor=evictor), 110,
                                                    column(combinations.PUBLISHED, i))
    for percent, published in zip((110, 125), LRU_2M):
        found[f"tbn + lru_2m, {percent} %"] = (dict(evictor="lru_2m"), percent, published)
    for i, percent in enumerate(scalability.PERCENTS):
        found[f"tbn + tbn, {percent} %"] = (dict(evictor="tbn"), percent, column(scalability.PUBLISHED, i))
    for i, share in enumerate(reservation.SHARES):
        if share:  # with none it is tbn + tbn at 110 %
            found[f"tbn + tbn, 110 %, {share} % reserved"] = (dict(evictor="tbn", reserve_percent=share), 110,
                                                              column(reservation.PUBLISHED, i))
    return found


def counts(case, name, result):
    """Faults and thrashed pages: ours / published."""
    if name not in COUNTS.get(case, {}):
        return ""
    faults, thrashed = COUNTS[case][name]
    text = f" ({result.uvm['faults']} / {faults}"
    return text + (f"; {result.uvm['thrashed_pages']} / {thrashed})" if thrashed or result.uvm["thrashed_pages"] else ")")


def main(lab_):
    names = lab_.chosen(prefetchers.PUBLISHED)
    lab_.runs([request for settings, percent, published in cases().values() for name in names if name in published
               for request in lab_.requests(name, percent, **settings)])
    rows, ratios, far, series = [], [], [], {name: [] for name in names}
    for case, (settings, percent, published) in cases().items():
        row = [case]
        for name in names:
            us = published.get(name)
            if us is None:
                row.append("")
                continue
            r = lab_.median(name, percent, **settings)
            ratios.append(r.us / us)
            series[name].append(r.us / us)
            if abs(r.us / us - 1) > 0.15:
                far.append(f"{name} {case}")
            row.append(lab.difference(r.us, us) + counts(case, name, r))
        rows.append(row)
    within = len(ratios) - len(far)
    by_program = ", ".join(f"{name} {lab.geometric_mean(series[name]):.2f}" for name in names)
    lab_.table("programs", [
        f"Difference of the times: {within} of {len(ratios)} are within 15 % of the published ones, geometric mean of ours over published",
        f"{lab.geometric_mean(ratios):.3f}; by program: {by_program}. Not within 15 %: {'; '.join(far) or 'none'}.",
        "In parentheses, where its log can be read: faults, ours / published; thrashed pages, ours / published. Before the +:",
        "the prefetcher once memory is short; reserved: the share of the oldest units that is not evicted. nw and bfs: the median of nine runs, and its counters."],
               ["policies", *names], rows)
    plot.bars(lab_.plot("programs"), "UVMSmart's own programs: ours over published", "ratio of times", names,
              {"within": [sum(abs(v - 1) <= 0.15 for v in series[n]) / len(series[n]) for n in names],
               "geometric mean": [lab.geometric_mean(series[n]) for n in names],
               "least": [min(series[n]) for n in names], "most": [max(series[n]) for n in names]})


if __name__ == "__main__":
    lab.start(main, __doc__)
