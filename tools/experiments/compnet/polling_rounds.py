#!/usr/bin/env python3
"""How many rounds over all queues an agent makes before it looks for completions: ComP-Net has "a predefined number"."""
import lab

ROUNDS = (1, 2, 4, 8, 16)
DESIGNS = ("compnet", "apu", "dgpu")
GROUPS = (1, 16, 480)
GETS = {1: 20, 16: 10, 480: 3}


def run(lab_, design, groups, rounds):
    return lab_.run(design, "full_load", [groups, GETS[groups], 32], service__rounds_per_progress=rounds)


def main(lab_):
    us = {(d, g): [run(lab_, d, g, r).us / GETS[g] for r in ROUNDS] for d in DESIGNS for g in GROUPS}
    worst = {g: max(max(us[d, g]) / us[d, g][0] for d in DESIGNS) for g in GROUPS}
    gain = max(us[d, 480][0] / min(us[d, 480]) for d in DESIGNS)
    lines = ["Time of a get of 64 bytes by each of a number of work-groups on two nodes.", "",
             lab.verdict(f"with one work-group more rounds only delay completions ({worst[1]:.2f} times at most)", worst[1] >= 1),
             lab.verdict(f"with 480 no number is more than 5 % faster than one round ({gain:.2f} times)", gain <= 1.05)]
    lab_.table("polling_rounds", lines, ["design", "work-groups", *(f"{r} rounds, us" for r in ROUNDS)],
               [[lab.NAMES[d], g, *(f"{t:,.2f}" for t in us[d, g])] for d in DESIGNS for g in GROUPS])
    lab_.lines("polling_rounds", "A get of 64 bytes by the rounds before completions are looked for", "over one round", "rounds, log2",
               {f"{lab.NAMES[d]}, {g}": [(i, t / us[d, g][0]) for i, t in enumerate(us[d, g])] for d in DESIGNS for g in GROUPS})


if __name__ == "__main__":
    lab.start(main, __doc__)
