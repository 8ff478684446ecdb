#!/usr/bin/env python3
"""The GPU itself beside its agents: kernels that write the NIC's queue (direct), against each design with a service thread, by the number
of work-groups that get 64 bytes."""
import lab

GROUPS = {1: 20, 4: 20, 16: 10, 64: 5, 256: 3, 480: 3}  # work-groups: gets of each


def main(lab_):
    us = {d: [lab_.run(d, "full_load", [groups, gets, 32]).us / gets for groups, gets in GROUPS.items()] for d in lab.NAMES}
    over = {d: [t / direct for t, direct in zip(us[d], us["direct"])] for d in lab.NAMES if d != "direct"}
    rate = {d: max(groups / t for groups, t in zip(GROUPS, us[d])) for d in lab.NAMES}
    least = min(min(values) for values in over.values())
    lines = ["Time of a get by each work-group on two nodes.", "",
             lab.verdict(f"no agent is faster than none ({least:.2f} times the time of direct at least)", least >= 1),
             lab.verdict(f"ComP-Net is closer to direct than dGPU is, at any load (at most {max(over['compnet']):.1f} and {max(over['dgpu']):.1f} times)",
                         all(a <= b for a, b in zip(over["compnet"], over["dgpu"]))),
             "* gets a microsecond, at most: " + ", ".join(f"{name} {rate[d]:.2f}" for d, name in lab.NAMES.items())]
    lab_.table("direct", lines, ["work-groups", *(f"{name}, us" for name in lab.NAMES.values()), *(f"{lab.NAMES[d]} / direct" for d in over)],
               [[g, *(f"{us[d][i]:,.2f}" for d in lab.NAMES), *(f"{over[d][i]:.2f}" for d in over)] for i, g in enumerate(GROUPS)])
    lab_.lines("direct", "A get of 64 bytes by the number of work-groups", "us", "work-groups, log4", {name: list(enumerate(us[d])) for d, name in lab.NAMES.items()})


if __name__ == "__main__":
    lab.start(main, __doc__)
