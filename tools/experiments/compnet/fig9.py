#!/usr/bin/env python3
"""Fig. 9: an iteration of Jacobi's method with its residual on eight nodes, by the side of a node's part of the grid."""
import lab

SIZES = [32, 64, 128, 256, 512, 1024, 2048]
NODES = 8
DESIGNS = {**lab.NAMES, **lab.HOSTS}
FORMS = {"inter_kernel": "inter", "cpu": "cpu"}
TEN_US = {"devices.launch.wait_ns": "5000 ns", "devices.launch.call_ns": "3760 ns"}  # with launch.latency_ns 10 us from a kernel to the next, ComP-Net, section 2


def iteration(lab_, design, size, **changes):
    """us; what the iterations behind the second take."""
    few, many = 2, 6 if size <= 512 else 4
    total = lambda n: lab_.run(design, "jacobi", [size, n, FORMS.get(design, "intra")], pes=NODES, **changes).total
    return (total(many) - total(few)) / (many - few)


def main(lab_):
    us = {d: [iteration(lab_, d, size) for size in SIZES] for d in DESIGNS}
    gpus = [d for d in DESIGNS if d not in ("cpu", "direct", "dgpu_host")]  # those of the paper
    ratio = lambda a, b: [x / y for x, y in zip(us[a], us[b])]
    over_dgpu, over_inter, apu = ratio("dgpu", "compnet"), ratio("inter_kernel", "compnet"), ratio("apu", "compnet")
    cpu_best = [all(us["cpu"][i] < us[d][i] for d in gpus) for i in range(len(SIZES))]
    differ = [max(us[d][i] for d in gpus) / min(us[d][i] for d in gpus) - 1 for i in range(len(SIZES))]
    regions = [1 if best else 2 if differ[i] > 0.03 else 3 for i, best in enumerate(cpu_best)]
    second = [i for i, region in enumerate(regions) if region == 2]
    upper = second[len(second) // 2:]
    lines = [lab.verdict(f"three regions in their order ({', '.join(f'{s}: {r}' for s, r in zip(SIZES, regions))})", regions == sorted(regions) and len(set(regions)) == 3),
             lab.verdict(f"dGPU / ComP-Net passes through 1.10 to 1.20 in the upper half of region 2 ({', '.join(f'{over_dgpu[i]:.2f}' for i in upper)})",
                         any(1.1 <= over_dgpu[i] <= 1.2 for i in upper) or (bool(upper) and max(over_dgpu[i] for i in upper) > 1.2 and min(over_dgpu[i] for i in upper) < 1.1)),
             lab.verdict(f"strict: 1.05 to 1.25 in all of region 2 ({', '.join(f'{over_dgpu[i]:.2f}' for i in second)})", bool(second) and all(1.05 <= over_dgpu[i] <= 1.25 for i in second)),
             lab.verdict(f"APU within 5 % of ComP-Net there ({', '.join(f'{apu[i]:.2f}' for i in second)})", bool(second) and all(abs(apu[i] - 1) <= 0.05 for i in second)),
             lab.verdict(f"inter-kernel never faster than ComP-Net (1 / {min(over_inter):.2f})", min(over_inter) >= 1),
             lab.verdict(f"all designs with GPUs within 3 % at the largest size ({100 * differ[-1]:.1f} %)", differ[-1] <= 0.03),
             lab.verdict("CPU slower than dGPU at the largest size", us["cpu"][-1] > us["dgpu"][-1]),
             lab.verdict("CPU faster than all designs with GPUs at the smallest", cpu_best[0])]
    slow = [iteration(lab_, "inter_kernel", size, **{k.replace(".", "__"): v for k, v in TEN_US.items()}) for size in SIZES]
    lab_.table("fig9", lines, ["side", *(f"{name}, us" for name in DESIGNS.values()), "inter-kernel, 10 us between kernels", "dGPU / ComP-Net", "inter-kernel / ComP-Net"],
               [[size, *(f"{us[d][i]:.2f}" for d in DESIGNS), f"{slow[i]:.2f}", f"{over_dgpu[i]:.2f}", f"{over_inter[i]:.2f}"] for i, size in enumerate(SIZES)])
    lab_.lines("fig9", "An iteration of Jacobi's method on eight nodes", "speed-up over dGPU", "side of a node's grid, log2",
               {n: [(i, us["dgpu"][i] / us[d][i]) for i in range(len(SIZES))] for d, n in DESIGNS.items()})


if __name__ == "__main__":
    lab.start(main, __doc__)
