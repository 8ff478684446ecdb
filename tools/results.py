#!/usr/bin/env python3
"""Writes docs/results.md: runs the program on the real traces and on generated ones, and puts its figures beside
those of the hardware and of Accel-Sim.

usage: tools/results.py LOCKSTEP TRACES [OUT]
  LOCKSTEP  the program, e.g. build/release/lockstep
  TRACES    folder with bfs-a100, vectoradd-a100, ffma-h100-10 ... -40 (see the page for where they come from)
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

# H100 PCIe under ncu, cycles of the whole kernel; and ncu's launch floor, the intercept of its empty-kernel rows.
FFMA_HARDWARE = {"ffma-h100-10": 9576, "ffma-h100-20": 14781, "ffma-h100-30": 20028, "ffma-h100-40": 25446}
FFMA_INSTRUCTIONS = {"ffma-h100-10": 1328, "ffma-h100-40": 5288}
NCU_FLOOR = 3950

# Accel-Sim of 2024-10-08 (SM7_QV100, release build) on a machine of the same kind: CPU seconds, warp instructions a
# second, cycles without its 5000 launch cycles a kernel.
ACCELSIM = {
    "streaming": (22.4, 14.10e3, 13828 - 5000), "sgemm": (98.6, 46.98e3, 48566 - 5000),
    "random": (202.9, 0.52e3, 72534 - 5000), "chain": (28.5, 1.51e3, 203458 - 5000),
    "bfs-a100": (18.6, 8.54e3, 122404 - 16 * 5000), "vectoradd-a100": (2.5, 10.73e3, 6204 - 5000),
}
# The generator's options for the kernels on which Accel-Sim was measured.
GENERATED = {
    "streaming": ["streaming", "--ctas", "2560"],
    "sgemm": ["sgemm", "--tiles-x", "32", "--tiles-y", "20", "--ktiles", "3"],
    "random": ["random", "--ctas", "1280", "--loads", "3"],
    "chain": ["chain", "--ctas", "2", "--iterations", "200"],
}
SOURCE = "the public MGPUSim repository (sarchlab/mgpusim, MIT licence)"


def run(program, trace, gpu, *options):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([program, "run", trace, "-c", gpu, "--quiet", "-o", out, *options], check=True)
        with open(os.path.join(out, "stats.json"), "rb") as f:
            raw = f.read()
        with open(os.path.join(out, "host.json")) as f:
            return json.loads(raw), json.load(f), raw


def table(out, header, rows):
    out.append("| " + " | ".join(header) + " |")
    out.append("|" + "---|" * len(header))
    out.extend("| " + " | ".join(str(c) for c in row) + " |" for row in rows)
    out.append("")


def rate(total, hits="hits"):
    return f"{100 * total[hits] / total['accesses']:.1f} %" if total["accesses"] else "-"


def real_traces(program, traces, out):
    out += ["## Real traces", "", f"From {SOURCE}: `bfs-a100` is Rodinia's bfs on 4096 nodes, `vectoradd-a100` the",
            "CUDA sample with 50,000 elements (both NVBit traces of an A100), `ffma-h100-*` one warp of dependent FFMA on",
            "an H100 PCIe. `cycles` are core cycles from the first CTA's dispatch to the last one's completion.", ""]
    rows = []
    for name, gpu in [("vectoradd-a100", "a100"), ("bfs-a100", "a100"), ("ffma-h100-40", "h100_pcie")]:
        stats, _, raw = run(program, os.path.join(traces, name), gpu, "--threads", "1")
        for options in (["--threads", "2"], ["--threads", "3", "--window", "1", "--shuffle", "5"],
                        ["--threads", "2", "--schedule", "static", "--no-skip"]):
            if run(program, os.path.join(traces, name), gpu, *options)[2] != raw:
                sys.exit(f"{name}: stats.json differs with {' '.join(options)}")
        t = stats["total"]
        top = max((v, k) for k, v in t["stalls"].items() if k not in ("issued", "empty", "idle"))
        rows.append([f"`{name}`", gpu, len(stats["kernels"]), f"{t['warp_instructions']:,}", f"{t['cycles']:,}",
                     f"{t['ipc']:.3f}", rate(t["l1"]), rate(t["l2"]), f"{t['dram']['bytes']:,}", top[1]])
    table(out, ["trace", "GPU", "kernels", "warp instructions", "cycles", "IPC", "L1 hits", "L2 hits", "DRAM bytes",
                "first stall reason"], rows)
    out += ["Each was run again with two and three threads, static schedule, a window of one cycle, shuffled order and",
            "without skipping: the bytes of `stats.json` were the same.", ""]


def ffma(program, traces, out):
    out += ["## Dependent FFMA on an H100 PCIe", "",
            "Hardware: ncu at about 1090 MHz (public measurements, h100_pcie_kernels.csv); its launch floor of about",
            f"{NCU_FLOOR:,} cycles, the intercept of its empty-kernel rows, is added to ours.", ""]
    cycles, rows, errors = {}, [], []
    for name, hardware in FFMA_HARDWARE.items():
        cycles[name] = run(program, os.path.join(traces, name), "h100_pcie")[0]["kernels"][0]["cycles"]
        ours = cycles[name] + NCU_FLOOR
        errors.append(abs(ours / hardware - 1))
        rows.append([f"`{name}`", f"{hardware:,}", f"{ours:,}", f"{100 * (ours / hardware - 1):+.1f} %"])
    table(out, ["trace", "hardware", "Lockstep and floor", "error"], rows)
    n = FFMA_INSTRUCTIONS["ffma-h100-40"] - FFMA_INSTRUCTIONS["ffma-h100-10"]
    slope = (cycles["ffma-h100-40"] - cycles["ffma-h100-10"]) / n
    hardware = (FFMA_HARDWARE["ffma-h100-40"] - FFMA_HARDWARE["ffma-h100-10"]) / n
    out += [f"Slope: {slope:.2f} cycles a warp instruction, hardware {hardware:.2f} ({100 * (slope / hardware - 1):+.1f} %). "
            f"Mean error {100 * statistics.mean(errors):.1f} %, maximum {100 * max(errors):.1f} %.", ""]


def speed(program, traces, out):
    out += ["## Speed", "",
            "Kernels on which Accel-Sim was measured, from text, on the V100 (bfs and vectorAdd: the A100); median of",
            "three runs. CPU seconds include decoding. Accel-Sim: SM7_QV100, on a machine of the same kind, another day.",
            f"Host: {os.cpu_count()} cores. These figures differ from host to host; `cycles` do not.", ""]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (cpu, kwips, cycles) in ACCELSIM.items():
            if name in GENERATED:
                path, gpu = os.path.join(folder, name), "v100"
                subprocess.run([program, "synth", *GENERATED[name], "--out", path], check=True,
                               stdout=subprocess.DEVNULL)
            else:
                path, gpu = os.path.join(traces, name), "a100"
            one = [run(program, path, gpu, "--threads", "1") for _ in range(3)]
            two = [run(program, path, gpu, "--threads", "2") for _ in range(3)]
            ours = statistics.median(h["cpu_seconds"] for _, h, _ in one)
            scaling = statistics.median(a[1]["wall_seconds"] / b[1]["wall_seconds"] for a, b in zip(one, two))
            total = one[0][0]["total"]
            mine = total["warp_instructions"] / ours
            memory = max(h["peak_rss_bytes"] for _, h, _ in one)
            rows.append([name, f"{total['warp_instructions']:,}", f"{cycles:,}", f"{total['cycles']:,}", f"{cpu:.1f}",
                         f"{ours:.2f}", f"{mine / 1e3:,.0f} k", f"{mine / kwips:.0f} x", f"{scaling:.2f} x",
                         f"{memory / 2**20:.0f} MiB"])
    table(out, ["kernel", "warp instructions", "cycles, Accel-Sim (V100)", "cycles", "CPU s, Accel-Sim", "CPU s",
                "warp instructions/s", "against Accel-Sim", "two threads", "peak memory"], rows)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, traces = os.path.abspath(sys.argv[1]), sys.argv[2]
    target = sys.argv[3] if len(sys.argv) > 3 else os.path.join(os.path.dirname(__file__), "..", "docs", "results.md")
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    out = ["# Results", "", f"Written by `tools/results.py build/release/lockstep TRACES` with {version}.", ""]
    real_traces(program, traces, out)
    ffma(program, traces, out)
    speed(program, traces, out)
    with open(target, "w") as f:
        f.write("\n".join(out).rstrip() + "\n")


if __name__ == "__main__":
    main()
