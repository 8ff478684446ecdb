#!/usr/bin/env bash
# Submits the runs of LIST whose results are missing or partial: submit.sh LIST RESULTS [OPTIONS of sbatch]
# Call it again whenever jobs were lost: it resumes what is missing, except runs that were tried LOCKSTEP_ATTEMPTS times.
# LIST as in batch.sh, or a study (STUDY.toml) of `lockstep sweep`, which then does the same itself.
set -euo pipefail
usage="usage: submit.sh LIST RESULTS [OPTIONS of sbatch]"
[[ ${1:-} != --help ]] || { echo "$usage"; exit 0; }
(($# >= 2)) || { echo "$usage" >&2; exit 2; }
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
list=$1 results=$2
shift 2
if [[ $list == *.toml ]]; then
  exec "${LOCKSTEP:-lockstep}" sweep "$list" -o "$results" --slurm -- "$@"
fi
"$here/batch.sh" check "$list" "$results"
mkdir -p "$results/logs"
lines=$(awk 'END { print NR }' "$list")
chunk=1000  # SLURM's default MaxArraySize allows indices up to 1000
submitted=0
for ((offset = 0; offset < lines; offset += chunk)); do
  # Indices are line numbers less the chunk's offset.
  tasks=$("$here/batch.sh" pending "$list" "$results" $((offset + 1)) $((offset + chunk)) |
            awk -v offset="$offset" -v RS=, '{ n = split($1, part, "-")
              printf "%s%s", (NR > 1 ? "," : ""), part[1] - offset
              if (n > 1) printf "-%s", part[2] - offset }')
  [[ -n $tasks ]] || continue
  sbatch --array="$tasks" --output="$results/logs/%A_%a.log" "$@" "$here/array.sbatch" "$here/batch.sh" "$list" \
    "$results" "$offset"
  submitted=1
done
given_up=$("$here/batch.sh" given-up "$list" "$results")
if [[ -n $given_up ]]; then
  printf 'given up after %s attempts (LOCKSTEP_ATTEMPTS):\n%s\n' "${LOCKSTEP_ATTEMPTS:-3}" "$given_up" >&2
elif ((!submitted)); then
  echo "nothing to do: all results in $results are complete"
fi
