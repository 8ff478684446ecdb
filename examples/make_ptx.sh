#!/usr/bin/env bash
# Writes ptx/NAME.ptx beside every example, for compute_75; needs nvcc (NVCC=... names another one).
set -euo pipefail

usage="usage: make_ptx.sh (no arguments; NVCC names the compiler)"
[[ ${1:-} != --help ]] || { echo "$usage"; exit 0; }
(($# == 0)) || { echo "$usage" >&2; exit 2; }
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "make_ptx.sh: $nvcc: no such program; NVCC names the compiler" >&2; exit 2; }
for folder in . uvm multi_gpu shmem; do
  mkdir -p "$folder/ptx"
  for source in "$folder"/*.cu; do
    "$nvcc" -std=c++17 -arch=compute_75 -ptx "$source" -o "$folder/ptx/$(basename "${source%.cu}").ptx"
  done
done
