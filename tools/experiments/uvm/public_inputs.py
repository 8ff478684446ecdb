#!/usr/bin/env python3
"""Makes input files of the published sizes for UVMSmart's own managed benchmarks in FOLDER, where they are not there yet.

The benchmarks (backprop, bfs, fdtd, hotspot, nw, pathfinder, ra, srad) are built elsewhere, into the same folder. CUDA 13 has two
of their calls no more: cudaThreadSynchronize moves nothing in UVMSmart, unlike cudaDeviceSynchronize, and launches of one stream
wait for each other anyway, so that cudaGetLastError stands for it, and cudaDeviceReset for cudaThreadExit.
"""
import os
import random
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import command_line  # noqa: E402


def numbers(values, low, high, count):
    return "".join(f"{values.uniform(low, high):.6f}\n" for _ in range(count))


def graph(nodes, draw):
    """As UVMSmart's generator makes them (its seed is the time): 2 to 4 edges of a node to any others, in both directions."""
    near = [[] for _ in range(nodes)]
    for node in range(nodes):
        for _ in range(draw.randint(2, 4)):
            other, weight = draw.randrange(nodes), draw.randint(1, 10)
            near[node].append((other, weight))
            near[other].append((node, weight))
    lines, first = [f"{nodes}\n"], 0
    for edges in near:
        lines.append(f"{first} {len(edges)}\n")
        first += len(edges)
    lines.append(f"\n{draw.randrange(nodes)}\n\n{first}\n")
    lines += (f"{other} {weight}\n" for edges in near for other, weight in edges)
    return "".join(lines)


def files():
    """Name to what makes its text."""
    values = random.Random(1)
    for side in (30, 1024):
        yield f"temp_{side}", lambda: numbers(values, 320, 345, side * side)
        yield f"power_{side}", lambda: numbers(values, 0, 0.001, side * side)
    yield "graph4096.txt", lambda: graph(4096, values)
    for seed in range(9):  # nodes: the loads of a level's second kernel in bfs's log, one each
        yield f"graph256k_{seed}.txt", lambda: graph(261444, random.Random(seed))


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("folder", metavar="FOLDER")
    folder = parser.parse_args().folder
    os.makedirs(folder, exist_ok=True)
    for name, text in files():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            with open(path, "w") as f:
                f.write(text())


if __name__ == "__main__":
    command_line.run(main)
