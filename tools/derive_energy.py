#!/usr/bin/env python3
"""Derives a V100's energies of events from AccelWattch's published tables, and compares powers with its measurements.

  tools/derive_energy.py ACCELWATTCH RUNS

ACCELWATTCH: a folder with hw_perf.csv, hw_power_validation_volta.csv and AccelWattch_graphs.xlsx of the public
accel-sim-framework (util/accelwattch). RUNS: a folder with stats.json of runs of the validation programs as NAME.json, at
AccelWattch's clock. Both tables are Markdown. Nothing is derived from the measured powers, nor from a kernel that is kept as a
check (results/split.py).

Memory side: AccelWattch's power of a component is a sum of counted events times energies over time: least squares over its
kernels gives the energies. SMs: counts of instructions are not public, so they are those of our runs: the instruction's energy
from the kernels run at their full size, the others from the ratio of a component's power to that of the instruction buffer.
"""
import glob
import json
import os
import statistics

import command_line
from results import accelwattch
from results.split import is_check

# Memory side: component, constant power in W taken off before, events of hw_perf.csv.
FITS = [("DCP", ["L1_RH", "L1_RM", "L1_WH", "L1_WM"]), ("L2CP", ["L2_RH", "L2_RM", "L2_WH", "NOC"]), ("SHRDP", ["SHRD_ACC"]),
        ("CCP", ["CC_ACC"])]
# pJ of a sector: accelwattch_sass_hw.xml, MEM_RD * dram_rd_coeff and MEM_WR * dram_wr_coeff.
DRAM_READ, DRAM_WRITE = 0.020752854 * 7.74707143e4, 0.025154975 * 3.54664286e4

# W of a V100 without warps: energy.board_power + dram_power + 80 idle_sm_power.
IDLE = 32.325 + 2.044 + 80 * 0.282792

# Programs whose input is that of hw_perf.csv; the others are smaller.
FULL_SIZE = ["backprop_k1", "btree_k1", "srad_v1_k1"]
# Units: key of lanes in stats.json, components of AccelWattch, key of the configuration.
UNITS = [("int", ["INTP"], "int_lane"), ("int_multiply", ["INT_MULP"], "int_multiply_lane"), ("fp", ["FPUP"], "fp_lane"),
         ("fp_multiply", ["FP_MULP"], "fp_multiply_lane"), ("fp64", ["DPUP", "DP_MULP"], "fp64_lane"),
         ("sfu", ["FP_SQRTP", "FP_LGP", "FP_SINP", "FP_EXP"], "sfu_lane")]
# Matrix products: multiply-accumulates of cutlass_k2 (4096 x 128 x 4096, as its options say) and of a warp's HMMA.884.
CUTLASS_MACS, HMMA_LANE_MACS = 4096 * 128 * 4096, 256 / 32
# Of a texture access over an FP32 multiply: TEX_ACC and FP_MUL_ACC of accelwattch_sass_hw.xml scale the same base energy.
TEXTURE_OVER_MULTIPLY = 3.4530026 / 0.147864271


def least_squares(rows, values):
    """The x that minimises |rows x - values|, by the normal equations."""
    n = len(rows[0])
    m = [[sum(r[i] * r[j] for r in rows) for j in range(n)] + [sum(r[i] * v for r, v in zip(rows, values))] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(m[k][i]))
        m[i], m[pivot] = m[pivot], m[i]
        for k in range(n):
            if k != i:
                factor = m[k][i] / m[i][i]
                m[k] = [a - factor * b for a, b in zip(m[k], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]


def memory_side(powers, counters):
    """Event to pJ, and the DRAM's constant power in W."""
    names = [k for k in counters if not is_check(k)]
    found = {}
    for component, events in FITS:
        rows = [[counters[k][e] / counters[k]["Elapsed_Cycles"] for e in events] for k in names]
        values = least_squares(rows, [powers[k][component] for k in names])
        found.update({e: v / accelwattch.CLOCK * 1e12 for e, v in zip(events, values)})
    rest = []
    for k in names:
        c = counters[k]
        picojoules = c["DRAM_Rd"] * DRAM_READ + c["DRAM_Wr"] * DRAM_WRITE
        rest.append(powers[k]["DRAMP"] - picojoules * accelwattch.CLOCK / c["Elapsed_Cycles"] * 1e-12)
    return found, statistics.mean(rest)


def runs(folder):
    """Validation kernel to the statistics of its longest launch."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path) as f:
            stats = json.load(f)
        if stats["core_khz"] * 1000 != accelwattch.CLOCK:
            raise command_line.Failure(f"{path}: the core clock is {stats['core_khz']} kHz, expected that of AccelWattch")
        program = os.path.splitext(os.path.basename(path))[0]
        for k in accelwattch.KERNELS:
            if k.name.rsplit("_k", 1)[0] != program:
                continue
            launches = [x for x in stats["kernels"] if matches(k, x["name"])]
            if launches:
                found[k.name] = max(launches, key=lambda x: x["cycles"])
    return found


def matches(kernel, name):
    """srad is not srad2."""
    return kernel.kernel in name and not (kernel.kernel == "srad" and "srad2" in name)


def sm_side(hw, sim, counters, kernels):
    """Key of the configuration to pJ."""
    names = [k for k in kernels if not is_check(k)]
    per_cycle = 1e12 / accelwattch.CLOCK
    buffer = statistics.median(hw[k]["IBP"] * counters[k]["Elapsed_Cycles"] * per_cycle / kernels[k]["warp_instructions"]
                               for k in names if k in FULL_SIZE)
    every = statistics.mean((hw[k]["IBP"] + hw[k]["SCHEDP"] + hw[k]["PIPEP"]) / hw[k]["IBP"] for k in names) * buffer
    share = statistics.mean(sim[k]["RFP"] / sum(sim[k][c] for c in ("IBP", "ICP", "RFP", "SCHEDP", "PIPEP")) for k in names)
    operands = statistics.mean((kernels[k]["sm"]["rf_reads"] + kernels[k]["sm"]["rfc_hits"]) / kernels[k]["warp_instructions"]
                               for k in names)
    found = {"instruction": (1 - share) * every, "register_read": share * every / operands}
    for lane, components, key in UNITS:
        ratios = [sum(hw[k][c] for c in components) / hw[k]["IBP"] * buffer
                  * kernels[k]["warp_instructions"] / kernels[k]["lanes"][lane] for k in names
                  if kernels[k]["lanes"][lane] > 0.001 * kernels[k]["thread_instructions"]]
        found[key] = statistics.median(ratios)
    cutlass = hw["cutlass_k2"]["TENSORP"] * counters["cutlass_k2"]["Elapsed_Cycles"] / accelwattch.CLOCK * 1e12
    found["tensor_lane"] = cutlass / CUTLASS_MACS * HMMA_LANE_MACS
    found["texture_lane"] = found["fp_multiply_lane"] * TEXTURE_OVER_MULTIPLY
    return found


def print_coefficients(memory, background, sm):
    print("| key | value |\n|---|---|")
    print(f"| energy.dram_power | {background:.3f} W |")
    for event, value in {**sm, **memory}.items():
        print(f"| {event} | {value:.1f} pJ |")


def loop_watts(kernel):
    """Mean power of launches one after the other, as they were measured: in the launch floor SMs are idle."""
    energy, launch = kernel["energy"], kernel["launch_cycles"]
    picojoules = energy["total_pj"] + launch / accelwattch.CLOCK * IDLE * 1e12
    return picojoules / (kernel["cycles"] + launch) * accelwattch.CLOCK * 1e-12


def print_powers(folder, kernels, hw, sim):
    measured = accelwattch.measured(folder)
    print("\n| kernel | half | measured W | here W | error % | AccelWattch SIM error % | AccelWattch HW error % |\n"
          "|---|---|---|---|---|---|---|")
    errors = {False: [], True: []}
    for name in sorted(kernels):
        watts, truth = loop_watts(kernels[name]), measured[name]
        errors[is_check(name)].append(abs(watts / truth - 1))
        rivals = [f"{100 * (sum(t[name].values()) / truth - 1):+.1f}" if name in t else "-" for t in (sim, hw)]
        half = "check" if is_check(name) else "derive"
        print(f"| {name} | {half} | {truth:.1f} | {watts:.1f} | {100 * (watts / truth - 1):+.1f} | "
              + " | ".join(rivals) + " |")
    for half, values in (("derive", errors[False]), ("check", errors[True]), ("all", errors[False] + errors[True])):
        if values:
            print(f"\n{half}: mean absolute error {100 * statistics.mean(values):.1f} % of {len(values)} kernels")


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("accelwattch", metavar="ACCELWATTCH", type=command_line.folder, help="folder of AccelWattch's tables")
    parser.add_argument("runs", metavar="RUNS", type=command_line.folder, help="folder of our statistics, NAME.json")
    arguments = parser.parse_args()
    counters = accelwattch.counters(arguments.accelwattch)
    hw, sim = (accelwattch.powers(arguments.accelwattch, variant) for variant in ("HW", "SIM"))
    kernels = runs(arguments.runs)
    memory, background = memory_side(hw, counters)
    print_coefficients(memory, background, sm_side(hw, sim, counters, kernels))
    if all("energy" in k for k in kernels.values()):
        print_powers(arguments.accelwattch, kernels, hw, sim)


if __name__ == "__main__":
    command_line.run(main)
