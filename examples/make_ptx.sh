#!/usr/bin/env bash
# Writes ptx/NAME.ptx beside every example, for compute_75; needs nvcc (NVCC=... names another one).
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
nvcc=${NVCC:-nvcc}
for folder in . uvm; do
  mkdir -p "$folder/ptx"
  for source in "$folder"/*.cu; do
    "$nvcc" -std=c++17 -arch=compute_75 -ptx "$source" -o "$folder/ptx/$(basename "${source%.cu}").ptx"
  done
done
