#!/usr/bin/env python3
"""Fig. 7: hits in the L2 among what the command processor's cores read, by how many of 40 work-groups of one compute unit stream
through an L2 of its size, with and without locked lines; and the times for which lines are locked."""
import lab

GROUPS = 40
STREAMING = [0, 4, 12, 20, 28, 36]
PUTS = 12
KIB = 24  # that each of the others streams for each that networks, so that they stream for longer than the network is used
SLICES = 8
SIZES = [64, 128]  # KiB: a twelfth of ComP-Net's L2 is 85
READS = ("entry", "record", "data", "code")
# Curves: whether lines are locked, and whether a core touches data and code of its own in a call.
CURVES = {"not locked": (0, True), "locked": (1, True), "locked, no data of the cores' own": (1, False)}
OWN = ("hot_lines", "cold_lines", "call_code_lines")


def run(lab_, kib, streaming, lock, own):
    changes = {"devices__gpu.sms": 1, "devices__gpu.gpcs": 1, "devices__gpu.sms_per_tpc": 1, "devices__l2.slice_bytes": f"{kib // SLICES} KiB",
               "devices__sync.poll_elision": "false", "command_processor__lock_lines": lock}
    if not own:
        changes.update({f"command_processor__{key}": 0 for key in OWN})
    return lab_.run("compnet", "streaming", [GROUPS - streaming, streaming, PUTS, KIB * (GROUPS - streaming), 32], pes=1, **changes)


def hits(result, kinds=READS):
    """Of what cores read."""
    count = lambda what: sum(thread["l2"][kind][what] for thread in result.threads for kind in kinds)
    return 1 - count("misses") / count("accesses") if count("accesses") else 1


def locks(result):
    """us in the median and the mean, most lines at a time in all slices together at most."""
    of = result.stats["system"]["network"]["locks"][0]
    l2_us = 1e3 / result.stats["core_khz"]  # both have one clock
    half, seen = of["unlocked"] / 2, 0
    for bucket, count in enumerate(of["times"]):
        if count and seen + count >= half:
            return 2 ** (bucket + (half - seen) / count) * l2_us, of["total_ps"] / max(of["unlocked"], 1) / 1e6, of["max_together"]
        seen += count
    return 0, 0, 0


def verdicts(kib, results):
    rate = {curve: [hits(r) for r in row] for curve, row in results.items()}
    base, locked, bare = rate["not locked"], rate["locked"], rate["locked, no data of the cores' own"]
    many = [b for b, streaming in zip(base, STREAMING) if streaming >= GROUPS / 2]
    medians = [locks(r)[0] for r in results["locked"]]
    most = [locks(r)[2] for r in results["locked"]]
    enough = all(m <= 2 * (GROUPS - s) for m, s in zip(most, STREAMING))
    lasts = min(r.us * 1e6 / max(t["active_ps"] for t in r.threads) for row in results.values() for r in row[1:])
    return [f"{kib} KiB: the others stream for {lasts:.1f} times as long as the network is used, at least", "",
            lab.verdict(f"without streaming 0.70 at least ({base[0]:.2f})", base[0] >= 0.7),
            lab.verdict(f"without locks, half streaming or more: 0.10 at most ({min(many):.2f} to {max(many):.2f})", max(many) <= 0.1),
            lab.verdict(f"with locks three quarters of that without streaming, anywhere ({min(locked) / base[0]:.2f})", min(locked) >= 0.75 * base[0]),
            lab.verdict(f"and 15 to 30 % less at worst ({100 * (1 - min(locked) / base[0]):.0f} %)", 0.15 <= 1 - min(locked) / base[0] <= 0.3),
            lab.verdict(f"a line is locked for 0.5 to 1.5 us in the median ({min(medians):.1f} to {max(medians):.1f})",
                        all(0.5 <= m <= 1.5 for m in medians)),
            lab.verdict(f"at most two locked lines for each work-group that networks ({', '.join(map(str, most))} with {', '.join(str(GROUPS - s) for s in STREAMING)})",
                        enough),
            lab.verdict(f"without data of the cores' own 95 % of that without streaming ({min(bare) / base[0]:.2f})", min(bare) >= 0.95 * base[0])]


def main(lab_):
    for kib in SIZES:
        results = {curve: [run(lab_, kib, streaming, *of) for streaming in STREAMING] for curve, of in CURVES.items()}
        rows = []
        for i, streaming in enumerate(STREAMING):
            of = {curve: row[i] for curve, row in results.items()}
            rows.append([f"{GROUPS - streaming}, {streaming}", *(f"{hits(r):.2f}" for r in of.values()),
                         *(f"{hits(of['not locked'], (kind,)):.2f}, {hits(of['locked'], (kind,)):.2f}" for kind in READS),
                         "{:.2f}, {:.2f}".format(*locks(of["locked"]))])
        lab_.table(f"fig7_{kib}", verdicts(kib, results),
                   ["work-groups that network, stream", *CURVES, *(f"{kind}, not locked, locked" for kind in READS), "locked, us: median, mean"], rows)
        lab_.lines(f"fig7_{kib}", f"L2 of {kib} KiB: hits of the command processor's reads", "share", "work-groups that stream",
                   {curve: [(s, hits(r)) for s, r in zip(STREAMING, row)] for curve, row in results.items()})


if __name__ == "__main__":
    lab.start(main, __doc__)
