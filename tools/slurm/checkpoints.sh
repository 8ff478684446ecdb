# shellcheck shell=bash
# To be read with `.`: set_checkpoints FOLDER WORD..., the results' folder and the words of a command line.
#
# Sets `checkpoints`, the options by which the run keeps its state in FOLDER/checkpoints, and goes on from the newest one, and
# `newest`, the name of that; empty where there is none, or where the command line says something of its own or cannot be kept.
set_checkpoints() {
  local word folder=$1/checkpoints
  checkpoints=() newest=
  for word in "${@:2}"; do
    case $word in
      --) break ;;
      --checkpoint | --checkpoint=* | --resume | --resume=* | --sample | --sample=* | --launch | --launch=*) return 0 ;;
    esac
  done
  checkpoints=(--checkpoint "$folder")
  for word in "$folder"/kernels-*.checkpoint; do
    [[ ! -e $word ]] || newest=${word##*/}
  done
  [[ -z $newest ]] || checkpoints+=(--resume "$folder")
}
