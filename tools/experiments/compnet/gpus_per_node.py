#!/usr/bin/env python3
"""One to eight GPUs in each of two nodes: a host whose threads serve all of its GPUs' queues, against command processors, of which
each GPU has its own. Every GPU has a NIC, so that these are not what limits."""
import os
import re

import lab

GPUS = [1, 2, 4, 8]
NODES = 2
THREADS = 4  # of a host, whatever the number of its GPUs
LOAD = [64, 5, 32]  # work-groups of each GPU, gets of each, threads of each
DESIGNS = ("compnet", "dgpu", "dgpu_host", "direct")


def system_of(lab_, gpus):
    """A file with two nodes of compnet_8, which have more GPUs and NICs."""
    all_ = NODES * gpus
    with open(os.path.join(lab.ROOT, "systems", "compnet_8.ini")) as f:
        text = f.read()
    for key, value in {"devices": f"a100 * {all_}", "hosts": NODES, "nics": all_, "switches": f"pcie * {NODES}, net"}.items():
        text = re.sub(rf"^{key} = .*$", f"{key} = {value}", text, count=1, flags=re.MULTILINE)
    edges = [f"host{n}.pcie{n} = pcie_host" for n in range(NODES)]
    for g in range(all_):
        edges += [f"gpu{g}.pcie{g // gpus} = pcie_gpu", f"nic{g}.pcie{g // gpus} = pcie_nic"]
    path = os.path.join(lab_.work, f"compnet_{NODES}x{gpus}.ini")
    with open(path, "w") as f:
        f.write(text[:text.index("[edges]")] + "\n".join(["[edges]", *edges, "nics.net = wire", ""]))
    return path


def run(lab_, design, gpus):
    return lab_.run(design, "full_load", LOAD, pes=NODES * gpus, base=system_of(lab_, gpus), host_threads__threads=THREADS)


def main(lab_):
    results = {d: [run(lab_, d, g) for g in GPUS] for d in DESIGNS}
    us = {d: [r.us for r in results[d]] for d in DESIGNS}
    each = {d: [r.energy * 1e6 / (NODES * g * LOAD[0] * LOAD[1]) for r, g in zip(results[d], GPUS)] for d in ("compnet", "dgpu", "dgpu_host")}
    growth = {d: us[d][-1] / us[d][0] for d in DESIGNS}
    lines = [f"{LOAD[0]} work-groups of each GPU get 64 bytes {LOAD[1]} times; {THREADS} threads of each host, 2 cores of each command processor.", "",
             lab.verdict(f"with command processors eight GPUs take at most a tenth longer than one ({growth['compnet']:.2f} times)", growth["compnet"] <= 1.1),
             lab.verdict(f"with a host's threads, whose number is fixed, at least four times as long ({growth['dgpu']:.2f}, queues on the host {growth['dgpu_host']:.2f})",
                         min(growth["dgpu"], growth["dgpu_host"]) >= 4)]
    lab_.table("gpus_per_node", lines, ["GPUs of a node", *(f"{lab.NAMES[d]}, us" for d in DESIGNS), *(f"{lab.NAMES[d]}, uJ a get" for d in each)],
               [[g, *(f"{us[d][i]:,.0f}" for d in DESIGNS), *(f"{each[d][i]:.2f}" for d in each)] for i, g in enumerate(GPUS)])
    lab_.lines("gpus_per_node", "Two nodes of several GPUs", "us", "GPUs of a node, log2", {lab.NAMES[d]: list(enumerate(us[d])) for d in DESIGNS})


if __name__ == "__main__":
    lab.start(main, __doc__)
