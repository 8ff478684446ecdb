#!/usr/bin/env python3
"""A command processor's clock and its width: what a faster core gains, with one work-group that waits for each get and with 480."""
import lab

MHZ = (500, 1000, 1500, 2000, 3000)
MILLI_IPC = (500, 1000, 1500, 2000, 4000)  # instructions per cycle, in 1/1000, while no access is waited for
GROUPS = {1: 20, 480: 3}  # work-groups: gets of each


def named(groups):
    return f"{groups} work-group{'s' if groups > 1 else ''}"


def times(lab_, groups, key, values):
    """us of a get."""
    gets = GROUPS[groups]
    return [lab_.run("compnet", "full_load", [groups, gets, 32], **{"command_processor__" + key: v}).us / gets for v in values]


def parts(mhz, us):
    """us that the clock does not change, and cycles: the line through the slowest and the fastest clock, us = fixed + cycles / MHz."""
    cycles = (us[0] - us[-1]) / (1 / mhz[0] - 1 / mhz[-1])
    return us[0] - cycles / mhz[0], cycles


def main(lab_):
    clocks = {g: times(lab_, g, "khz", [f"{m} MHz" for m in MHZ]) for g in GROUPS}
    widths = {g: times(lab_, g, "milli_ipc", MILLI_IPC) for g in GROUPS}
    lines = ["Time of a get of 64 bytes by each of a number of work-groups on two nodes. Accesses to the L2 take the same time at any clock.", ""]
    for groups, us in clocks.items():
        fixed, cycles = parts(MHZ, us)
        between = [abs(fixed + cycles / m - t) / t for m, t in zip(MHZ, us)]
        lines.append(lab.verdict(f"{named(groups)}: {fixed:.2f} us and {cycles:,.0f} cycles of a core, within 5 % at every clock ({100 * max(between):.1f} %)", max(between) <= 0.05))
    falls = lambda us: all(a >= 0.99 * b for a, b in zip(us, us[1:]))
    lines.append(lab.verdict("neither a higher clock nor a wider core is ever slower", all(falls(us) for us in [*clocks.values(), *widths.values()])))
    rows = [["clock", f"{m:,} MHz", *(f"{clocks[g][i]:,.2f}" for g in GROUPS)] for i, m in enumerate(MHZ)]
    rows += [["instructions per cycle", f"{w / 1000:.1f}", *(f"{widths[g][i]:,.2f}" for g in GROUPS)] for i, w in enumerate(MILLI_IPC)]
    lab_.table("core_speed", lines, ["what", "value", *(f"{named(g)}, us" for g in GROUPS)], rows)
    lab_.lines("core_speed", "A get of 64 bytes by the clock of a command processor", "over 500 MHz", "MHz",
               {named(g): [(m, t / us[0]) for m, t in zip(MHZ, us)] for g, us in clocks.items()})


if __name__ == "__main__":
    lab.start(main, __doc__)
