#!/usr/bin/env python3
"""Times of examples/uvm that are not within 15 % of the published ones, beside those of UVMSmart's own programs (--public)."""
import sys

import lab
import public_programs

LIMIT = 0.15


def main(lab_):
    if not lab_.public:
        sys.exit("this experiment needs --public FOLDER")
    own, rows, count, theirs_off = lab_.own(), [], 0, 0
    for case, (settings, percent, published) in public_programs.cases().items():
        for name in own.chosen(published):
            us = published[name]
            ours = own.median(name, percent, **settings)
            count += 1
            if abs(ours.us / us - 1) <= LIMIT:
                continue
            theirs = lab_.median(name, percent, **settings)
            theirs_off += abs(theirs.us / us - 1) > LIMIT
            rows.append([name, case, lab.difference(ours.us, us), lab.difference(theirs.us, us),
                         *[f"{ours.uvm[key]} / {theirs.uvm[key]}" for key in ("faults", "thrashed_pages")]])
    lab_.table("substitutes", [
        f"Of {count} published times, the programs of `examples/uvm` (section \"Managed memory\") are not within 15 % of {len(rows)}. The same",
        f"machine with UVMSmart's own program, for which the published time holds, is within 15 % of all but {theirs_off} of these: the rest is",
        "what the programs do differently, as their faults and thrashed pages say (`examples/uvm` / UVMSmart's)."],
               ["benchmark", "policies", "`examples/uvm`", "UVMSmart's program", "faults", "thrashed pages"], sorted(rows))


if __name__ == "__main__":
    lab.start(main, __doc__)
