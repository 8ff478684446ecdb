#!/usr/bin/env bash
# A list of runs and what is left of it. Knows nothing of SLURM; array.sbatch and submit.sh call it.
#
#   batch.sh pending LIST RESULTS [FIRST LAST]   numbers of the lines that are to be run, as in "1,3-7"
#   batch.sh given-up LIST RESULTS               folders of the runs that failed too often
#   batch.sh task LIST RESULTS LINE              runs that line, unless its results are complete
#   batch.sh collect LIST RESULTS                one CSV of the statistics of all runs, on the standard output
#   batch.sh check LIST RESULTS                  says what is wrong with the list
#
# LIST has a run on each line; empty lines and those that start with # are passed over:
#
#   [NAME:] TRACE CONFIG [OPTIONS of `lockstep run`]
#   [NAME:] run ARGUMENTS of `lockstep run`
#   [NAME:] exec ARGUMENTS of `lockstep exec`
#
# Words are separated by blanks; quotes and backslashes keep blanks, as for xargs. A run's folder is RESULTS/NAME, or is
# made of the words of the line. LOCKSTEP names the program. LOCKSTEP_ATTEMPTS is how often a run is tried, 3 unless set;
# each attempt is a line in the file `attempts` of the run's folder. Runs of traces keep their state in the folder
# `checkpoints` of theirs; what is tried from a checkpoint counts anew from the next one.
set -euo pipefail

limit=${LOCKSTEP_ATTEMPTS:-3}
# shellcheck source=tools/slurm/checkpoints.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/checkpoints.sh"

fail() { printf 'batch.sh: %s\n' "$*" >&2; exit 2; }

# fields LINE: sets `fields`, the words of a run, `name` (empty where the line has none) and `wrong` (what is wrong with
# it, empty when it is in order); false for a line without a run.
fields() {
  local words word
  [[ ! $1 =~ ^[[:space:]]*(#|$) ]] || return 1
  name='' wrong=''
  if [[ $1 == *[\"\'\\]* ]]; then
    words=$(xargs printf '%s\n' <<<"$1" 2>/dev/null) || wrong="expected a closing quote"
    mapfile -t fields <<<"$words"
  else
    read -r -a fields <<<"$1" || true
  fi
  if [[ ${fields[0]} == ?*: ]]; then
    name=${fields[0]%:}
    fields=("${fields[@]:1}")
  fi
  ((${#fields[@]} >= 2)) || wrong=${wrong:-expected TRACE CONFIG [OPTIONS], run ... or exec ...}
  for word in "${fields[@]}"; do
    [[ $word != -- ]] || break
    [[ $word != -o && $word != --out && $word != --out=* ]] || wrong="expected no $word: the list's runs have their folders"
  done
}

is_command() { [[ ${fields[0]} == run || ${fields[0]} == exec ]]; }

# Sets `place`, the folder of the run in `fields`. Of paths, what follows the last slash stands for them.
set_place() {
  local own=$name word
  if [[ -z $own ]] && is_command; then
    for word in "${fields[@]:1}"; do
      [[ $word != -- && $word != -c && $word != --config ]] || continue
      word=${word%/}
      own+=${own:+_}${word##*/}
    done
    own=${own//--/}
  elif [[ -z $own ]]; then
    local trace=${fields[0]%/} config=${fields[1]##*/} options="${fields[*]:2}"
    own=${trace##*/}-${config%.ini}${options:+-${options//--/}}
  fi
  own=${own//[^A-Za-z0-9.=,_-]/_}
  place=$results/${own:0:200}
}

# A run that --max-cycles ended is as complete as it will ever be.
complete() { [[ -s $1/stats.json ]] && grep -qsE '"partial":false,"partial_reason"|"partial_reason":"max-cycles"' "$1/stats.json"; }

# Sets `attempts`, how often the run in `fields` and `place` was started, and `stuck`, how often from where it would be now.
# Sets `checkpoints` and `newest`.
count_attempts() {
  local lines=() line
  if is_command && [[ ${fields[0]} == exec ]]; then
    checkpoints=() newest=
  else
    set_checkpoints "$place" "${fields[@]}"
  fi
  [[ ! -e $place/attempts ]] || mapfile -t lines <"$place/attempts"
  attempts=${#lines[@]} stuck=0
  for line in "${lines[@]}"; do
    [[ "${line#* from }" != "${newest:-$line}" ]] || stuck=$((stuck + 1))
  done
}

# each FUNCTION: calls it for every run of the list, with its line's number and text; `fields` and `place` are set.
each() {
  local number=0 line
  [[ -r $list ]] || fail "$list: cannot be read"
  while IFS= read -r line <&3 || [[ -n $line ]]; do
    number=$((number + 1))
    fields "$line" || continue
    [[ -z $wrong ]] || fail "$list:$number: found '$line', $wrong"
    set_place
    "$1" "$number"
  done 3<"$list"
}

declare -A seen=()
check_run() {
  [[ -z ${seen[$place]:-} ]] || fail "$list:$1: line ${seen[$place]} writes to $place, too; a NAME: in front helps"
  seen[$place]=$1
}

# Joins "1 2 3 7" to "1-3,7".
ranges() {
  awk '{ if (NR > 1 && $1 == last + 1) { last = $1; next }
         if (NR > 1) printf "%s%s,", first, (last > first ? "-" last : "")
         first = last = $1 }
       END { if (NR) printf "%s%s\n", first, (last > first ? "-" last : "") }'
}

pending_run() {
  (($1 >= first && (last == 0 || $1 <= last))) || return 0
  complete "$place" && return
  count_attempts
  ((stuck >= limit)) || echo "$1"
}

given_up_run() {
  complete "$place" && return
  count_attempts
  ((stuck < limit)) || echo "$place"
}

task() {
  local line
  [[ -r $list ]] || fail "$list: cannot be read"
  line=$(sed -n "$1p" "$list")
  fields "$line" || fail "$list:$1: no run there"
  [[ -z $wrong ]] || fail "$list:$1: found '$line', $wrong"
  set_place
  if complete "$place"; then
    echo "$place: complete"
    return
  fi
  count_attempts
  if ((stuck >= limit)); then
    echo "$place: given up after $stuck attempts" >&2
    exit 1
  fi
  mkdir -p "$place"
  echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) ${SLURM_JOB_ID:+job $SLURM_JOB_ID }on ${HOSTNAME:-?}${newest:+ from $newest}" >>"$place/attempts"
  # exec: signals are for the program, not for this shell.
  if is_command; then
    exec "${LOCKSTEP:-lockstep}" "${fields[0]}" -o "$place" "${checkpoints[@]}" "${fields[@]:1}"
  else
    exec "${LOCKSTEP:-lockstep}" run "${fields[0]}" -c "${fields[1]}" -o "$place" "${fields[@]:2}" "${checkpoints[@]}"
  fi
}

# "complete", the reason why the results are partial, or "missing".
state_of() {
  if complete "$1"; then
    echo complete
  elif [[ -s $1/stats.json ]]; then
    sed -n 's/.*"partial_reason":"\([^"]*\)".*/\1/p' "$1/stats.json"
  else
    echo missing
  fi
}

# A string of the first lines of a stats.json.
value_of() { sed -n "1,5s/.*\"$2\":\"\([^\"]*\)\".*/\1/p" "$1/stats.json"; }

header=
collect_run() {
  local before own
  count_attempts
  before="\"${place#"$results"/}\",$(state_of "$place"),$attempts"
  if [[ ! -s $place/stats.csv || ! -s $place/stats.json ]]; then
    missing+=("$before")
    return
  fi
  own=$(head -n 1 "$place/stats.csv")
  if [[ -z $header ]]; then
    header=$own
    echo "run,state,attempts,gpu,config_hash,$header"
  fi
  [[ $own == "$header" ]] || fail "$place/stats.csv: its columns are not those of the runs before; another version wrote it"
  before+=",$(value_of "$place" gpu),$(value_of "$place" config_hash),"
  tail -n +2 "$place/stats.csv" | before=$before awk '{ print ENVIRON["before"] $0 }'
}

# A run without results has a row with its state and nothing else.
collect() {
  local missing=() row
  each collect_run
  [[ -n $header ]] || echo "run,state,attempts,gpu,config_hash"
  for row in "${missing[@]}"; do
    printf '%s,,%s\n' "$row" "${header//[!,]/}${header:+,}"
  done
}

usage="usage: batch.sh pending|given-up|task|collect|check LIST RESULTS [...]"
[[ ${1:-} != --help ]] || { echo "$usage"; exit 0; }
(($# >= 3)) || fail "$usage"
for number in "${@:4}"; do
  [[ $number =~ ^[0-9]+$ ]] || fail "found '$number', expected a line number"
done
[[ $limit =~ ^[1-9][0-9]*$ ]] || fail "LOCKSTEP_ATTEMPTS: found '$limit', expected a number from 1 on"
list=$2 results=$3
case $1 in
  check) each check_run ;;
  pending) first=${4:-1} last=${5:-0}; each check_run; each pending_run | ranges ;;
  given-up) each given_up_run ;;
  task) [[ ${4:-} =~ ^[1-9][0-9]*$ ]] || fail "task: a line number is missing"; task "$4" ;;
  collect) collect ;;
  *) fail "unknown command '$1'" ;;
esac
