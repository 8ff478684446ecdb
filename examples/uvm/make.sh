#!/usr/bin/env bash
# make.sh FOLDER: builds the programs of this folder with nvcc (NVCC=... names another one), those that are not there yet.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
nvcc=${NVCC:-nvcc}
mkdir -p "$1"
for source in "$here"/*.cu; do
  program=$1/$(basename "${source%.cu}")
  [[ $program -nt $source ]] || "$nvcc" -std=c++17 -arch=compute_75 -cudart shared "$source" -o "$program"
done
