#!/usr/bin/env python3
"""Fig. 8a: latency of a get by size, one work-group; and how far the ratio of the small ones depends on what the paper does not say:
the way between GPU and host over PCIe, and how many reads fetch an entry."""
import lab

SIZES = [8, 64, 512, 4096, 32768, 262144, 1048576, 4194304]
ONE_WAY_NS = (200, 300, 500, 800)
READ_BYTES = (64, 32, 16, 8)


def latency(lab_, design, size, **changes):
    """The program gets all sizes up to one, from 8 bytes on."""
    few, many = (10, 60) if size <= 32768 else (1, 3)
    up_to = lambda largest: lab_.each(design, "get_latency", lambda n: [largest, n], few, many, **changes)
    return up_to(size) - (up_to(size // 2) if size > 8 else 0)


def sensitivity(lab_):
    rows = []
    for ns in ONE_WAY_NS:
        row = [ns]
        for read in READ_BYTES:
            ways = {"pcie_gpu__latency_ps": f"{ns // 2} ns", "pcie_host__latency_ps": f"{ns // 2} ns"}
            ways["pcie_nic__latency_ps"] = f"{325 - ns // 2 if ns < 600 else 20} ns"  # GPU to NIC 325 ns as before, where possible
            dgpu = latency(lab_, "dgpu", 8, host_threads__uncached_read_bytes=read, **ways)
            row.append(f"{dgpu / latency(lab_, 'compnet', 8, **ways):.2f}")
        rows.append(row)
    return rows


def main(lab_):
    us = {d: [latency(lab_, d, size) for size in SIZES] for d in lab.NAMES}
    ratio = lambda a, b: [x / y for x, y in zip(us[a], us[b])]
    dgpu, dgpu_apu, apu = ratio("dgpu", "compnet"), ratio("dgpu", "apu"), ratio("apu", "compnet")
    small = [i for i, size in enumerate(SIZES) if size <= 512]
    large = [i for i, size in enumerate(SIZES) if size >= 1 << 20]
    goodput = min(SIZES[-1] / us[d][-1] / 1e3 for d in ("compnet", "apu", "dgpu"))
    spread = max(max(us[d][i] for d in lab.NAMES) / min(us[d][i] for d in lab.NAMES) for i in large)
    lines = [lab.verdict(f"dGPU more than twice ComP-Net up to 512 B ({min(dgpu[i] for i in small):.2f} at least)", min(dgpu[i] for i in small) > 2),
             lab.verdict(f"dGPU more than twice APU up to 512 B ({min(dgpu_apu[i] for i in small):.2f} at least)", min(dgpu_apu[i] for i in small) > 2),
             lab.verdict(f"APU within 25 % of ComP-Net up to 512 B ({min(apu[i] for i in small):.2f} to {max(apu[i] for i in small):.2f})",
                         all(abs(apu[i] - 1) <= 0.25 for i in small)),
             lab.verdict(f"all within 10 % from 1 MiB on ({100 * (spread - 1):.1f} %)", spread <= 1.1),
             lab.verdict(f"4 MiB at 90 % of 12.5 GB/s at least ({goodput:.2f} GB/s)", goodput >= 0.9 * 12.5),
             lab.verdict("dGPU / ComP-Net never grows with the size", all(a >= b for a, b in zip(dgpu, dgpu[1:])))]
    lab_.table("fig8a", lines, ["bytes", *(f"{name}, us" for name in lab.NAMES.values()), "dGPU / ComP-Net", "dGPU / APU"],
               [[f"{size:,}", *(f"{us[d][i]:.2f}" for d in lab.NAMES), f"{dgpu[i]:.2f}", f"{dgpu_apu[i]:.2f}"] for i, size in enumerate(SIZES)])
    lab_.lines("fig8a", "Latency of a get", "us", "bytes, log2", {n: [(i, us[d][i]) for i in range(len(SIZES))] for d, n in lab.NAMES.items()})
    lab_.table("fig8a_sensitivity", ["dGPU / ComP-Net of 8 bytes, by the host's way to GPU memory and the width of its reads; the default is 500 ns and 32 bytes"],
               ["ns one way", *(f"reads of {read} B" for read in READ_BYTES)], sensitivity(lab_))


if __name__ == "__main__":
    lab.start(main, __doc__)
