#!/usr/bin/env python3
"""Fig. 10a and 10b: an all-reduce of all nodes' data by rings, by the number of nodes, and the energy of its service threads."""
import os
import re

import lab

SWEEPS = {64: [2, 4], 1: [2, 4, 8, 16]}  # MiB of each node: nodes. The paper has 64 MB; its largest numbers of nodes take hours for all designs
RINGS = 32
DESIGNS = {**{d: n for d, n in lab.NAMES.items() if d != "direct"}, **lab.HOSTS}
FORMS = {"inter_kernel": "inter", "cpu": "cpu"}


def run(lab_, design, nodes, size, rings=RINGS):
    """us of the all-reduce of `size` bytes, J, GB/s on the busiest of the NICs' wires. The kernels that check the sums are not timed."""
    chunk = size // 4 // rings // nodes
    kernels = None if design == "cpu" else f"1-{nodes * (nodes - 1)}" if design == "inter_kernel" else f"1-{nodes}"
    result = lab_.run(design, "allreduce_rings", [chunk, rings, FORMS.get(design, "intra")], pes=nodes, kernels=kernels, base=system_of(lab_, design, nodes) if nodes > 8 else None)
    us = between_copies(result.stats) if design in lab.HOSTS else result.us
    wires = [link["data_bytes"] for link in result.stats["system"]["links"] if link["to"] == "net"]
    return us, result.energy, max(wires) / us / 1e3


def system_of(lab_, design, nodes):
    """A file with the design's system of eight nodes, and more of them."""
    name = "compnet_apu_8" if design in lab.APART else "compnet_8"
    with open(os.path.join(lab.ROOT, "systems", name + ".ini")) as f:
        text = re.sub(r"(\* |hosts = |nics = )8\b", rf"\g<1>{nodes}", f.read())
    path = os.path.join(lab_.work, f"{name[:-2]}_{nodes}.ini")
    with open(path, "w") as f:
        f.write(text)
    return path


def between_copies(stats):
    """us from the last copy in to the first one out."""
    begin = max(c["start_cycle"] + c["cycles"] for c in stats["copies"] if c["kind"] == "host_to_device")
    end = min(c["start_cycle"] for c in stats["copies"] if c["kind"] == "device_to_host")
    return (end - begin) * 1e3 / stats["core_khz"]


def sweep(lab_, megabytes, nodes):
    all_ = {d: [run(lab_, d, n, megabytes << 20) for n in nodes] for d in DESIGNS}
    us = {d: [x[0] for x in all_[d]] for d in DESIGNS}
    ratio = lambda a, b: [x / y for x, y in zip(us[a], us[b])]
    gain, apu, inter, cpu = ratio("dgpu", "compnet"), ratio("apu", "compnet"), ratio("inter_kernel", "compnet"), ratio("cpu", "dgpu")
    energy = {d: [all_[d][i][1] / all_["compnet"][i][1] for i in range(len(nodes))] for d in ("dgpu", "apu")}
    small = [i for i, n in enumerate(nodes) if n <= 4]
    fastest = max(x[2] for d in DESIGNS for x in all_[d])
    of_compnet = [1 / e for d in energy for e in energy[d]]
    lines = [f"{megabytes} MiB", "",
             lab.verdict(f"ComP-Net, APU and dGPU within 5 % up to 4 nodes ({', '.join(f'{max(gain[i], 1 / gain[i], apu[i], 1 / apu[i]):.2f}' for i in small)})",
                         all(abs(gain[i] - 1) <= 0.05 and abs(apu[i] - 1) <= 0.05 for i in small)),
             lab.verdict(f"dGPU / ComP-Net never falls with the nodes ({', '.join(f'{g:.2f}' for g in gain)})", all(a <= b for a, b in zip(gain, gain[1:]))),
             f"* not run: it is 1.05 at least from 32 nodes on; with {nodes[-1]} it is {gain[-1]:.2f}",
             lab.verdict(f"APU within 5 % of ComP-Net ({', '.join(f'{a:.2f}' for a in apu)})", all(abs(a - 1) <= 0.05 for a in apu)),
             lab.verdict(f"inter-kernel slower than ComP-Net ({', '.join(f'{x:.2f}' for x in inter)})", min(inter) > 1),
             lab.verdict(f"CPU and GPU cross within the sweep (CPU / dGPU {', '.join(f'{x:.2f}' for x in cpu)})", min(cpu) < 1 < max(cpu)),
             lab.verdict(f"no wire carries more than 12.5 GB/s ({fastest:.2f})", fastest <= 12.5),
             lab.verdict(f"ComP-Net's service threads take 0.4 to 0.65 of dGPU's and APU's energy ({min(of_compnet):.2f} to {max(of_compnet):.2f})",
                         all(0.4 <= e <= 0.65 for e in of_compnet))]
    lab_.table(f"fig10a_{megabytes}", lines, ["nodes", *(f"{name}, us" for name in DESIGNS.values()), "dGPU / ComP-Net", "CPU / dGPU"],
               [[n, *(f"{us[d][i]:,.0f}" for d in DESIGNS), f"{gain[i]:.2f}", f"{cpu[i]:.2f}"] for i, n in enumerate(nodes)])
    lab_.table(f"fig10b_{megabytes}", ["Energy of all service threads, mJ"], ["nodes", *(DESIGNS[d] for d in DESIGNS if d not in lab.HOSTS), "ComP-Net / dGPU", "ComP-Net / APU"],
               [[n, *(f"{all_[d][i][1] * 1e3:.2f}" for d in DESIGNS if d not in lab.HOSTS), f"{1 / energy['dgpu'][i]:.2f}", f"{1 / energy['apu'][i]:.2f}"] for i, n in enumerate(nodes)])
    lab_.lines(f"fig10a_{megabytes}", f"All-reduce of {megabytes} MiB", "speed-up over dGPU", "nodes, log2",
               {n: [(i + 1, us["dgpu"][i] / us[d][i]) for i in range(len(nodes))] for d, n in DESIGNS.items()})


def main(lab_):
    for megabytes, nodes in SWEEPS.items():
        sweep(lab_, megabytes, nodes)


if __name__ == "__main__":
    lab.start(main, __doc__)
