#!/usr/bin/env bash
# make.sh FOLDER: builds the programs of this folder with nvcc (NVCC=... names another one), those that are not there yet.
set -euo pipefail

usage="usage: make.sh FOLDER (NVCC names the compiler)"
[[ ${1:-} != --help ]] || { echo "$usage"; exit 0; }
[[ $# == 1 && $1 != -* ]] || { echo "$usage" >&2; exit 2; }
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "make.sh: $nvcc: no such program; NVCC names the compiler" >&2; exit 2; }
mkdir -p "$1"
for source in "$here"/*.cu; do
  program=$1/$(basename "${source%.cu}")
  [[ $program -nt $source ]] || "$nvcc" -std=c++17 -arch=compute_75 -cudart shared "$source" -o "$program"
done
