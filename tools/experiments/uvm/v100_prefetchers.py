#!/usr/bin/env python3
"""Four prefetchers on the V100 of the GPGPU-Sim 4 study (the published plot says only that tbn is closest to hardware)."""
import lab
import plot

STUDY = ["include = sst_v100", "include = uvmsmart"]
INPUTS = (("bfs", ["4096"]), ("hotspot", ["30", "7"]), ("pathfinder", ["1000", "20", "5"]), ("backprop", ["65536"]), ("srad", ["1024", "4"]))
POLICIES = ("none", "random", "sequential", "tbn")


def main(lab_):
    rows, names, series = [], [], {p: [] for p in POLICIES}
    for name, arguments in INPUTS:
        if not lab_.chosen([name]):
            continue
        names.append(name)
        for policy in POLICIES:
            r = lab_.run(lab_.trace(name, arguments), STUDY, prefetcher=policy)
            series[policy].append(r.us)
            rows.append([name + " " + " ".join(arguments), policy, f"{r.us:.0f}", r.uvm["faults"], r.uvm["transfers"]])
    lab_.table("v100_prefetchers", ["Time with the handling of faults, in us."],
               ["program", "prefetcher", "us", "faults", "transfers"], rows)
    plot.bars(lab_.plot("v100_prefetchers"), "Prefetchers on the V100 of the study", "us", names, series, logarithmic=True)


if __name__ == "__main__":
    lab.start(main, __doc__)
