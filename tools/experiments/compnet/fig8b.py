#!/usr/bin/env python3
"""Fig. 8b and 8c: 480 work-groups on each of two nodes get 64 bytes ten times; time, and energy of the service threads, by their
number."""
import lab

THREADS = [1, 2, 4, 8, 16]
DESIGNS = ("compnet", "apu", "dgpu", "dgpu_host")


def run(lab_, design, threads):
    key = "command_processor__cores" if design == "compnet" else "host_threads__threads"
    return lab_.run(design, "full_load", [480, 10, 32], **{key: threads})


def main(lab_):
    results = {d: [run(lab_, d, t) for t in THREADS] for d in DESIGNS}
    us = {d: [r.us for r in results[d]] for d in DESIGNS}
    mj = {d: [r.energy * 1e3 for r in results[d]] for d in DESIGNS}
    direct = lab_.run("direct", "full_load", [480, 10, 32]).us
    over = [min(us["dgpu"][i] / us[d][i] for d in ("compnet", "apu")) for i in range(len(THREADS))]
    shrinks = lambda values: all(a >= 0.99 * b for a, b in zip(values, values[1:]))
    lines = [lab.verdict(f"dGPU 1.5 times as long as ComP-Net and APU at any number ({min(over):.2f} at least)", min(over) >= 1.5),
             lab.verdict("ComP-Net and APU no slower with more threads", shrinks(us["compnet"]) and shrinks(us["apu"])),
             lab.verdict(f"ComP-Net within 15 % of APU with most threads ({us['compnet'][-1] / us['apu'][-1]:.2f})",
                         abs(us["compnet"][-1] / us["apu"][-1] - 1) <= 0.15),
             lab.verdict("more threads always help dGPU", all(a > b for a, b in zip(us["dgpu"], us["dgpu"][1:])))]
    lab_.table("fig8b", lines + [f"Without an agent (direct): {direct:.0f} us."],
               ["threads of a node", *(f"{lab.NAMES[d]}, us" for d in DESIGNS)], [[t, *(f"{us[d][i]:,.0f}" for d in DESIGNS)] for i, t in enumerate(THREADS)])
    lab_.lines("fig8b", "480 work-groups, ten gets each", "us", "threads, log2", {lab.NAMES[d]: list(enumerate(us[d])) for d in DESIGNS})
    alike = [i for i in range(len(THREADS)) if abs(us["compnet"][i] / us["apu"][i] - 1) <= 0.15]
    ratio = lambda other: [mj["compnet"][i] / mj[other][i] for i in alike]
    text = lambda values: ", ".join(f"{v:.2f}" for v in values) or "there is no such number of threads"
    lines = [lab.verdict(f"ComP-Net / APU 0.30 to 0.65 where both are as fast ({text(ratio('apu'))}); the paper has 0.50",
                         bool(alike) and all(0.3 <= v <= 0.65 for v in ratio("apu"))),
             lab.verdict(f"ComP-Net / dGPU 0.15 to 0.45 there ({text(ratio('dgpu'))}); the paper has 0.33",
                         bool(alike) and all(0.15 <= v <= 0.45 for v in ratio("dgpu"))),
             lab.verdict("ComP-Net takes least energy with any number of threads",
                         all(mj["compnet"][i] <= min(mj[d][i] for d in ("apu", "dgpu")) for i in range(len(THREADS))))]
    lab_.table("fig8c", lines, ["threads of a node", *(f"{lab.NAMES[d]}, mJ" for d in DESIGNS), "ComP-Net / APU", "ComP-Net / dGPU"],
               [[t, *(f"{mj[d][i]:.2f}" for d in DESIGNS), f"{mj['compnet'][i] / mj['apu'][i]:.2f}", f"{mj['compnet'][i] / mj['dgpu'][i]:.2f}"]
                for i, t in enumerate(THREADS)])
    lab_.lines("fig8c", "Energy of the service threads", "mJ", "threads, log2", {lab.NAMES[d]: list(enumerate(mj[d])) for d in DESIGNS})


if __name__ == "__main__":
    lab.start(main, __doc__)
