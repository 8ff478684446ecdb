#!/usr/bin/env bash
# Writes examples/ptx/NAME.ptx of every example, for compute_75; needs nvcc (NVCC=... names another one).
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
nvcc=${NVCC:-nvcc}
mkdir -p ptx
for source in *.cu; do
  "$nvcc" -std=c++17 -arch=compute_75 -ptx "$source" -o "ptx/${source%.cu}.ptx"
done
