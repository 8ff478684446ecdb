#!/usr/bin/env bash
# A list of runs and what is left of it. Knows nothing of SLURM; array.sbatch and submit.sh call it.
#
#   batch.sh pending LIST RESULTS [FIRST LAST]   numbers of the lines without complete results, as in "1,3-7"
#   batch.sh task LIST RESULTS LINE              runs that line, unless its results are complete
#   batch.sh check LIST RESULTS                  says what is wrong with the list
#
# LIST has a run a line: TRACE CONFIG [OPTIONS of `lockstep run`], separated by blanks; empty lines and those that
# start with # are passed over. A run's folder is RESULTS/TRACE-CONFIG[-OPTIONS]. LOCKSTEP names the program.
set -euo pipefail

fail() { printf 'batch.sh: %s\n' "$*" >&2; exit 2; }

# fields LINE: sets `fields`; false for a line without a run.
fields() {
  read -r -a fields <<<"$1" || true
  ((${#fields[@]} > 0)) && [[ ${fields[0]} != \#* ]]
}

# Sets `place`, the folder of the run in `fields`.
set_place() {
  local trace=${fields[0]%/} config=${fields[1]##*/} options="${fields[*]:2}" name
  name=${trace##*/}-${config%.ini}${options:+-${options//--/}}
  place=$results/${name//[^A-Za-z0-9.=,_-]/_}
}

# A run that --max-cycles ended is as complete as it will ever be.
complete() { [[ -s $1/stats.json ]] && grep -qsE '"partial":false,"partial_reason"|"partial_reason":"max-cycles"' "$1/stats.json"; }

check() {
  local number=0 line place
  local -A seen=()
  [[ -r $list ]] || fail "$list: cannot be read"
  while IFS= read -r line || [[ -n $line ]]; do
    number=$((number + 1))
    fields "$line" || continue
    ((${#fields[@]} >= 2)) || fail "$list:$number: found '$line', expected TRACE CONFIG [OPTIONS]"
    set_place
    [[ -z ${seen[$place]:-} ]] || fail "$list:$number: line ${seen[$place]} writes to $place, too"
    seen[$place]=$number
  done <"$list"
}

# Joins "1 2 3 7" to "1-3,7".
ranges() {
  awk '{ if (NR > 1 && $1 == last + 1) { last = $1; next }
         if (NR > 1) printf "%s%s,", first, (last > first ? "-" last : "")
         first = last = $1 }
       END { if (NR) printf "%s%s\n", first, (last > first ? "-" last : "") }'
}

pending() {
  local first=$1 last=$2 number=0 line place
  check
  while IFS= read -r line || [[ -n $line ]]; do
    number=$((number + 1))
    ((number >= first && (last == 0 || number <= last))) || continue
    fields "$line" || continue
    set_place
    complete "$place" || echo "$number"
  done <"$list" | ranges
}

task() {
  local line place
  [[ -r $list ]] || fail "$list: cannot be read"
  line=$(sed -n "$1p" "$list")
  fields "$line" || fail "$list:$1: no run there"
  ((${#fields[@]} >= 2)) || fail "$list:$1: found '$line', expected TRACE CONFIG [OPTIONS]"
  set_place
  if complete "$place"; then
    echo "$place: complete"
    return
  fi
  exec "${LOCKSTEP:-lockstep}" run "${fields[0]}" -c "${fields[1]}" -o "$place" "${fields[@]:2}"
}

usage="usage: batch.sh pending|task|check LIST RESULTS [...]"
[[ ${1:-} != --help ]] || { echo "$usage"; exit 0; }
(($# >= 3)) || fail "$usage"
for number in "${@:4}"; do
  [[ $number =~ ^[0-9]+$ ]] || fail "found '$number', expected a line number"
done
list=$2 results=$3
case $1 in
  check) check ;;
  pending) pending "${4:-1}" "${5:-0}" ;;
  task) [[ ${4:-} =~ ^[1-9][0-9]*$ ]] || fail "task: a line number is missing"; task "$4" ;;
  *) fail "unknown command '$1'" ;;
esac
