#!/usr/bin/env python3
"""Fig. 4b: what a work-group of a GPU of 64 compute units waits for a request without work, by the number of work-groups that ask and
of the host's threads that serve them."""
import fig4a
import lab

GROUPS = [1, 64, 128, 256, 640]  # 640: ten for each compute unit
THREADS = [1, 2, 4, 8, 16]
DESIGNS = ("dgpu_host", "dgpu")


def verdicts(us):
    """us: by work-groups, then threads. Bands are of queues on the host, the paper's better place."""
    busy, alone = us[-1], us[0][0]
    falls = all(a > b for row in us[1:] for a, b in zip(row, row[1:]))
    efficiency = [row[0] / row[i] / threads for row in us[1:] for i, threads in enumerate(THREADS) if threads <= 8]
    near = [threads for threads, v in zip(THREADS, busy) if v <= 10 * alone]
    return [lab.verdict("more threads are always faster", falls),
            lab.verdict(f"up to 8 threads each has 80 % of the effect of the first ({100 * min(efficiency):.0f} % at least)", min(efficiency) >= 0.8),
            lab.verdict(f"with {GROUPS[-1]} work-groups at least 8 threads for ten times what one work-group waits "
                        f"({f'{near[0]} are enough' if near else f'not even {THREADS[-1]} are enough'})", not near or near[0] >= 8),
            lab.verdict(f"one thread thirty times as long as for one work-group ({busy[0] / alone:.0f})", busy[0] >= 30 * alone)]


def main(lab_):
    us = {d: [[fig4a.service(lab_, d, groups, threads, **fig4a.GPU) for threads in (THREADS if groups > 1 else THREADS[:1])] for groups in GROUPS] for d in DESIGNS}
    rows = [[lab.NAMES[d], groups, *(f"{v:.2f}" for v in row)] for d in DESIGNS for groups, row in zip(GROUPS, us[d])]
    lab_.table("fig4b", verdicts(us["dgpu_host"]), ["design", "work-groups", *(f"{t} threads, us" for t in THREADS)],
               [row + [""] * (2 + len(THREADS) - len(row)) for row in rows])
    lab_.lines("fig4b", "Service of a queue, queues on the host", "us", "threads, log2",
               {f"{groups} work-groups": list(enumerate(row)) for groups, row in zip(GROUPS[1:], us["dgpu_host"][1:])})


if __name__ == "__main__":
    lab.start(main, __doc__)
