#!/usr/bin/env python3
"""What waiting costs the host: a kernel bound by far faults, with and without skipping idle cycles, and 100 GB touched sparsely.

CPU seconds and peak memory of the whole process, which differ from host to host; the bytes of stats.json must not.
"""
import os
import resource
import tempfile

import lab
from host_link import KERNEL

BASE, PAGES = 0x7f8000000000, 27_000_000  # of 4 KB: 103 GiB


def trace(folder, loads):
    """One warp whose loads wait for one another; loads: lists of 32 addresses."""
    os.makedirs(folder)
    lines = [f"{16 * (i + 1):x} ffffffff 1 R4 LDG.E 1 R4 4 0 " + " ".join(f"0x{a:x}" for a in addresses)
             for i, addresses in enumerate(loads)]
    lines.append(f"{16 * (len(loads) + 1):x} ffffffff 0 EXIT 0 0")
    head, tail = KERNEL.split("insts = 1\n10 ffffffff 0 EXIT 0 0\n")
    with open(os.path.join(folder, "kernel-1.traceg"), "w") as f:
        f.write(head + f"insts = {len(lines)}\n" + "\n".join(lines) + "\n" + tail)
    with open(os.path.join(folder, "kernelslist.g"), "w") as f:
        f.write("kernel-1.traceg\n")


def measure(lab_, folder, *options):
    """(CPU seconds, peak memory in MB, bytes of stats.json); the largest child so far counts, so large runs come last."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    lab.command_line.output_of([lab_.program, "run", folder, "-c", "v100", "-t", "1", "--quiet", "-o", folder, *options])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.path.join(folder, "stats.json"), "rb") as f:
        stats = f.read()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024, stats


def main(lab_):
    with tempfile.TemporaryDirectory() as folder:
        chain, sparse = os.path.join(folder, "chain"), os.path.join(folder, "sparse")
        trace(chain, [[BASE + 0x400000 * i] * 32 for i in range(24)])
        trace(sparse, [[BASE + 4096 * ((32 * i + lane) * 2654435761 % PAGES) for lane in range(32)] for i in range(64)])
        managed = ["--managed", f"0x{BASE:x}+103GiB"]
        quick, _, one = min(measure(lab_, chain, *managed) for _ in range(3))  # mostly the program's start, which varies
        slow, _, other = measure(lab_, chain, *managed, "--no-skip")
        large, memory, stats = measure(lab_, sparse, *managed, "--gpu-memory", "103GiB")
    pages = int(stats.split(b'"faults":')[1].split(b",")[0])
    lab_.table("waiting", [], ["run", "CPU s", "peak memory, MB", "what it shows"], [
        ["24 far faults, one after another", f"{quick:.2f}", "", ""],
        ["the same, --no-skip", f"{slow:.2f}", "", f"{slow / quick:.0f} times as long; stats.json " + ("the same bytes" if one == other else "DIFFERS")],
        [f"{pages} far faults over 103 GiB", f"{large:.2f}", f"{memory:.0f}", "page structures grow with touched pages only"]])


if __name__ == "__main__":
    lab.start(main, __doc__)
