#!/usr/bin/env python3
"""The host link of a V100 on PCIe 3 x16: explicit copies, the models of migrations, and managed triads, against measurements.

Measured: gpu-benches (v100_pcie_memcpy_um.csv). Its cudaMemcpy times hold some 30 us that the runtime takes for any copy; the
host's own time is none here.
"""
import json
import math
import os
import tempfile

import lab
import plot

KERNEL = """-kernel name = nothing
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (32,1,1)
-shmem = 0
-nregs = 32
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x0
-local mem base_addr = 0x0
-nvbit version = 1.7
-accelsim tracer version = 3

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]

#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 1
10 ffffffff 0 EXIT 0 0

#END_TB
"""
LARGEST_KB = 131072  # simulated line by line: larger ones differ by nothing but their length
TRIADS = ((1 << 20, 0, None), (1 << 21, 150, 5.0), (1 << 21, 300, 5.0))  # elements, footprint over memory in percent, GB/s


def copies(lab_, sizes):
    """Seconds of copies to the device, by KB."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kernelslist.g"), "w") as f:
            f.writelines(f"MemcpyHtoD,0x7f8000000000,{kb * 1024}\n" for kb in sizes)
            f.write("kernel-1.traceg\n")
        with open(os.path.join(folder, "kernel-1.traceg"), "w") as f:
            f.write(KERNEL)
        lab.command_line.output_of([lab_.program, "run", folder, "-c", "v100", "--quiet", "-o", folder])
        with open(os.path.join(folder, "stats.json")) as f:
            stats = json.load(f)
    return {kb: c["cycles"] / stats["core_khz"] / 1e3 for kb, c in zip(sizes, stats["copies"])}


def models(kb):
    """us of a migration of a size in KB: arctan at 16 GB/s, table, um_affine (UVMSmart)."""
    arctan = kb / 2 ** 20 / (24 / math.pi * math.atan(0.07292 * kb)) * 1e6
    points = ((4, 1.184), (16, 2.368), (64, 7.200), (256, 23.234), (1024, 87.014))
    table = kb / 2 ** 20 / 11.223 * 1e6
    for (a, s), (b, t) in zip(points, points[1:]):
        if a <= kb <= b:
            table = s + (t - s) * (kb - a) / (b - a)
    return arctan, max(table, 1.184), max(1.75, 0.72 + 0.084 * kb)


def main(lab_):
    if not lab_.measured:
        raise lab.Failure("this experiment needs --measured FOLDER")
    rows = lab.command_line.table(os.path.join(lab_.measured, "v100_pcie_memcpy_um.csv"), ("kind",), ("size_kB", "time_ms"))
    measured = {int(r["size_kB"]): float(r["time_ms"]) * 1e3 for r in rows if r["kind"] == "h2d_memcpy"}
    simulated = copies(lab_, [kb for kb in measured if kb <= LARGEST_KB])
    table, series = [], {"measured": [], "simulated": []}
    for kb, seconds in simulated.items():
        us = seconds * 1e6
        # A printed time has two digits behind the point of a millisecond: below 100 us it says little.
        far = f"{100 * (us / measured[kb] - 1):+.0f} %"
        migration = [f"{m:.1f}" for m in models(kb)] if 4 <= kb <= 2048 else ["", "", ""]
        table.append([kb, f"{us:.1f}", f"{measured[kb]:.0f}", far, *migration])
        for key, value in (("measured", measured[kb]), ("simulated", us)):
            series[key].append((math.log2(kb), value))
    bandwidths = []
    for n, percent, published in TRIADS:
        megabytes = 12 * n / 2 ** 20
        r = lab_.run(lab_.trace("triad", [str(n)], ordered=False), ["include = v100"], megabytes * 100 / percent if percent else None)
        rate = 12 * n / (r.us * 1e3)
        what = f"footprint / memory {percent} %, {rate:.2f} GB/s (measured at 150 and at 300 %: {published:.1f})" if percent else \
            f"memory for all, pages on the host: {rate:.2f} GB/s (T4, cold: 4.2 to 4.9)"
        bandwidths.append(f"triad of {megabytes:.0f} MiB, {what}")
    lab_.table("host_link", ["Copies to the device, us, and what the models of migrations take. The measured ones hold some 30 us that",
                             "the runtime takes for any copy; the host's own time is none here. Managed triads, one pass: "
                             + "; ".join(bandwidths) + "."],
               ["KiB", "cudaMemcpy, us", "measured", "difference", "arctan", "table", "um_affine"], table)
    plot.lines(lab_.plot("host_link"), "cudaMemcpy to a V100, PCIe 3 x16", "us", "log2 of KB", series, logarithmic=True)


if __name__ == "__main__":
    lab.start(main, __doc__)
