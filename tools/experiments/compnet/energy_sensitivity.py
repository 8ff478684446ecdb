#!/usr/bin/env python3
"""How far the ratios of energy of Fig. 8c depend on its constants, which are McPAT's and not those of ComP-Net's authors: each by 30 %."""
import fig8b
import lab

PARTS = ("leak", "base", "instruction")
OTHERS = ("apu", "dgpu")
FACTORS = (0.7, 1.3)


def energy(result, factors):
    """pJ, with each part times its factor."""
    return sum(thread[f"{part}_pj"] * factors.get(part, 1) for thread in result.threads for part in PARTS)


def ratio(own, other, own_factors=None, other_factors=None):
    return energy(own, own_factors or {}) / energy(other, other_factors or {})


def main(lab_):
    results = {d: [fig8b.run(lab_, d, t) for t in fig8b.THREADS] for d in ("compnet", *OTHERS)}
    every = lambda factor: dict.fromkeys(PARTS, factor)
    rows, bounds = [], {}
    for other in OTHERS:
        for i, threads in enumerate(fig8b.THREADS):
            own, its = results["compnet"][i], results[other][i]
            one = [ratio(own, its, **{side: {part: f}}) for side in ("own_factors", "other_factors") for part in PARTS for f in FACTORS]
            low, high = ratio(own, its, every(0.7), every(1.3)), ratio(own, its, every(1.3), every(0.7))
            bounds[other, threads] = low, high
            rows.append([lab.NAMES[other], threads, f"{ratio(own, its):.2f}", f"{min(one):.2f} to {max(one):.2f}", f"{low:.2f} to {high:.2f}"])
    paper = {"apu": 0.5, "dgpu": 1 / 3}
    lines = [lab.verdict(f"the paper's {paper[o]:.2f} of {lab.NAMES[o]} is within reach with some number of threads",
                         any(low <= paper[o] <= high for (other, _), (low, high) in bounds.items() if other == o)) for o in OTHERS]
    lines.append(lab.verdict("ComP-Net takes less than dGPU whatever the constants within 30 %", all(high < 1 for (o, _), (_, high) in bounds.items() if o == "dgpu")))
    lab_.table("energy_sensitivity", lines, ["beside", "threads of a node", "ComP-Net / it", "one constant by 30 %", "all against each other"], rows)
    lab_.lines("energy_sensitivity", "Energy of ComP-Net's service threads over dGPU's", "ratio", "threads, log2",
               {"lowest": [(i, bounds["dgpu", t][0]) for i, t in enumerate(fig8b.THREADS)],
                "highest": [(i, bounds["dgpu", t][1]) for i, t in enumerate(fig8b.THREADS)]})


if __name__ == "__main__":
    lab.start(main, __doc__)
