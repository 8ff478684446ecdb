#!/usr/bin/env bash
# public_programs.sh CHECKOUT FOLDER: builds the managed benchmarks of a checkout of DebashisGanguly/gpgpu-sim_UVMSmart with
# nvcc (NVCC=... names another one) into FOLDER, and makes input files of the published sizes, which the checkout has not.
set -euo pipefail

checkout=$(readlink -f "$1")
mkdir -p "$2"
folder=$(readlink -f "$2")
nvcc=${NVCC:-nvcc}
# CUDA 13 has these two calls no more. In UVMSmart cudaThreadSynchronize moves nothing, unlike cudaDeviceSynchronize; launches
# of one stream wait for each other anyway.
flags=(-std=c++17 -arch=compute_75 -cudart shared -w -DcudaThreadSynchronize=cudaGetLastError -DcudaThreadExit=cudaDeviceReset)
while read -r name path source; do
  [[ -x $folder/$name ]] || (cd "$checkout/benchmarks/Managed/$path" && "$nvcc" "${flags[@]}" "$source" -o "$folder/$name")
done <<'END'
backprop backprop backprop.cu
bfs bfs bfs.cu
fdtd FDTD-2D fdtd2d.cu
hotspot hotspot hotspot.cu
nw nw needle.cu
pathfinder pathfinder pathfinder.cu
ra ra main.cu
srad srad_v2 srad.cu
END
python3 - "$folder" <<'END'
import os
import random
import sys

values = random.Random(1)


def make(name, write):
    path = os.path.join(sys.argv[1], name)
    if not os.path.exists(path):
        with open(path, "w") as f:
            write(f)


def numbers(low, high, count):
    return lambda f: f.writelines(f"{values.uniform(low, high):.6f}\n" for _ in range(count))


def graph(nodes, draw):
    """As the checkout's generator makes them (its seed is the time): 2 to 4 edges of a node to any others, in both directions."""
    def write(f):
        near = [[] for _ in range(nodes)]
        for node in range(nodes):
            for _ in range(draw.randint(2, 4)):
                other, weight = draw.randrange(nodes), draw.randint(1, 10)
                near[node].append((other, weight))
                near[other].append((node, weight))
        f.write(f"{nodes}\n")
        first = 0
        for edges in near:
            f.write(f"{first} {len(edges)}\n")
            first += len(edges)
        f.write(f"\n{draw.randrange(nodes)}\n\n{first}\n")
        f.writelines(f"{other} {weight}\n" for edges in near for other, weight in edges)
    return write


for side in (30, 1024):
    make(f"temp_{side}", numbers(320, 345, side * side))
    make(f"power_{side}", numbers(0, 0.001, side * side))
make("graph4096.txt", graph(4096, values))
for seed in range(9):  # nodes: the loads of a level's second kernel in bfs's log, one each
    make(f"graph256k_{seed}.txt", graph(261444, random.Random(seed)))
END
