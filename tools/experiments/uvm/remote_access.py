#!/usr/bin/env python3
"""Delayed migration under over-subscription: UVMSmart's policies (IPDPS 2020) in its slots, and packets on the link."""
import lab
import plot

POLICIES = ("never", "static", "oversubscribed", "adaptive")


def main(lab_):
    rows, series = [], {p: [] for p in POLICIES}
    names = lab_.chosen(("hotspot", "bfs", "ra"))
    for name in names:
        trace = lab_.trace(name)
        for policy in POLICIES:
            for path in ("slot", "link"):
                if policy == "never" and path == "link":
                    continue
                r = lab_.run(trace, lab.SMART, lab_.memory_of(name, 125), evictor="lru_2m", remote=policy, remote_path=path)
                c = r.uvm
                if path == "slot":
                    series[policy].append(r.us)
                rows.append([name, policy, path, f"{r.us:.0f}", c["faults"], c["remote_reads"] + c["remote_writes"],
                             c["thrashed_pages"], f"{c['bytes_to_device'] / 2 ** 20:.1f}",
                             f"{(c['remote_bytes_to_device'] + c['remote_bytes_to_host']) / 2 ** 20:.1f}"])
    lab_.table("remote_access", ["At 125 %, LRU of 2 MB, tbn, threshold 8, penalty 2. Time with the handling of faults, in us."],
               ["benchmark", "policy", "path", "us", "faults", "remote accesses", "thrashed pages", "MiB migrated",
                "MiB of packets"], rows)
    plot.bars(lab_.plot("remote_access"), "Delayed migration at 125 %, slots", "us", names, series, logarithmic=True)


if __name__ == "__main__":
    lab.start(main, __doc__)
