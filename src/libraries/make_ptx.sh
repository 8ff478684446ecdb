#!/usr/bin/env bash
# Writes ptx/NAME.ptx for each kernels/NAME.cu of the libraries (or of those named), for compute_75, and for compute_80
# where the name ends in _sm80; needs nvcc (NVCC=... names another one). What is made for compute_75 is marked as for
# sm_70: it uses nothing newer, and nvcc 13 makes none below, so that the default model, which is 7.0, runs it as well.
set -euo pipefail

usage="usage: make_ptx.sh [library...] (NVCC names the compiler)"
[[ ${1:-} != --help ]] || { echo "$usage"; exit 0; }
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "make_ptx.sh: $nvcc: no such program; NVCC names the compiler" >&2; exit 2; }
libraries=("$@")
(($# > 0)) || for folder in */kernels; do libraries+=("${folder%/kernels}"); done
for library in "${libraries[@]}"; do
  mkdir -p "$library/ptx"
  for source in "$library"/kernels/*.cu; do
    name=$(basename "${source%.cu}")
    arch=compute_75
    [[ $name != *_sm80 ]] || arch=compute_80
    "$nvcc" -std=c++17 -O3 -I.. -arch=$arch -ptx "$source" -o "$library/ptx/$name.ptx"
    sed -i -e 's/^\.target sm_75$/.target sm_70/' -e '/^\/\/ /d' -e '/^\/\/$/d' "$library/ptx/$name.ptx"
  done
done
