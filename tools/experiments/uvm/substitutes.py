#!/usr/bin/env python3
"""Times of examples/uvm that are not within 15 % of the published ones, beside those of UVMSmart's own programs (--public)."""

import lab
import public_programs

LIMIT = 0.15
NAMES = ("backprop", "bfs", "hotspot", "nw")


def kernels_us(result):
    """Time of a result without the added handling of faults."""
    return result.us * result.uvm["kernel_cycles"] / result.uvm["kernel_and_fault_cycles"]


def main(lab_):
    if not lab_.public:
        raise lab.Failure("this experiment needs --public FOLDER")
    own, rows, theirs_off = lab_.own(), [], 0
    cases = [(case, name, percent, settings, published[name]) for case, (settings, percent, published) in public_programs.cases().items()
             for name in own.chosen(NAMES) if published.get(name)]
    for case, name, percent, settings, us in cases:
        ours = own.median(name, percent, **settings)
        if abs(ours.us / us - 1) > LIMIT:
            theirs = lab_.median(name, percent, **settings)
            theirs_off += abs(theirs.us / us - 1) > LIMIT
            rows.append([name, case, lab.difference(ours.us, us), lab.difference(theirs.us, us),
                         *[f"{ours.uvm[key]} / {theirs.uvm[key]}" for key in ("faults", "thrashed_pages")],
                         " / ".join(f"{kernels_us(r):.0f}" for r in (ours, theirs))])
    lab_.table("substitutes", [
        f"Of {len(cases)} published times of {', '.join(NAMES)}, the programs of `examples/uvm` (section \"Managed memory\") miss {len(rows)} by more",
        f"than 15 %. The same machine with UVMSmart's own program misses {theirs_off} of these: the rest is what the programs do differently, as",
        "their faults, thrashed pages and kernels without the handling of faults say (`examples/uvm` / UVMSmart's). nw of `examples/uvm` is",
        "a single run."],
               ["benchmark", "policies", "`examples/uvm`", "UVMSmart's program", "faults", "thrashed pages", "kernels, us"],
               sorted(rows))


if __name__ == "__main__":
    lab.start(main, __doc__)
