#!/usr/bin/env python3
"""Fig. 4a: what a work-group of a GPU of 64 compute units waits for a request without work, by the number of work-groups that ask, with
one thread of the host."""
import lab

GPU = {"devices__gpu.sms": 64, "devices__gpu.gpcs": 16}  # four compute units share caches, as in compnet_8
GROUPS = [1, 4, 16, 64, 256]
DESIGNS = ("dgpu_host", "dgpu", "compnet", "apu")


def service(lab_, design, groups, threads=1, **changes):
    """us that a work-group waits, the mean."""
    few, many = (10, 60) if groups <= 16 else (4, 12)
    return lab_.each(design, "queue_service", lambda n: [groups, n], few, many, pes=1, host_threads__threads=threads,
                     command_processor__cores=min(threads, 16), **changes)


def main(lab_):
    us = {d: [service(lab_, d, groups, **GPU) for groups in GROUPS] for d in DESIGNS}
    host, gpu = us["dgpu_host"], us["dgpu"]
    mean = lambda values: sum(values) / len(values)
    x, y = mean(GROUPS), mean(gpu)
    slope = sum((a - x) * (b - y) for a, b in zip(GROUPS, gpu)) / sum((a - x) ** 2 for a in GROUPS)
    r2 = 1 - sum((b - y - slope * (a - x)) ** 2 for a, b in zip(GROUPS, gpu)) / sum((b - y) ** 2 for b in gpu)
    lines = [lab.verdict("queues in GPU memory are slower at every point", all(a > b for a, b in zip(gpu, host))),
             lab.verdict(f"queues in host memory 2 to 10 us up to 16 work-groups ({min(host[:3]):.1f} to {max(host[:3]):.1f})",
                         all(2 <= v <= 10 for v in host[:3])),
             lab.verdict(f"and 40 to 160 us with 256 ({host[-1]:.1f})", 40 <= host[-1] <= 160),
             lab.verdict("both three times 0.7 us with one work-group and fifty times with 256",
                         min(host[0], gpu[0]) >= 2.1 and min(host[-1], gpu[-1]) >= 35),
             lab.verdict(f"in GPU memory linear in the number of queues (R2 {r2:.3f})", r2 > 0.95)]
    lab_.table("fig4a", lines, ["work-groups", *(f"{lab.NAMES[d]}, us" for d in DESIGNS)],
               [[groups, *(f"{us[d][i]:.2f}" for d in DESIGNS)] for i, groups in enumerate(GROUPS)])
    lab_.lines("fig4a", "Service of a queue, one thread", "us", "work-groups, log4", {lab.NAMES[d]: list(enumerate(us[d])) for d in DESIGNS})


if __name__ == "__main__":
    lab.start(main, __doc__)
