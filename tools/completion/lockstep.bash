# Completion of `lockstep` for bash, from what its help says: commands, options, GPU models and systems.
_lockstep() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
  local command=${COMP_WORDS[1]:-}
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null |
      sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')" -- "$word")
  elif [[ $before == -c || $before == --config ]]; then
    mapfile -t COMPREPLY < <(compgen -f -W "$("$program" config 2>/dev/null |
      sed -n 's/^\([a-z][a-z0-9_]*\)  .*/\1/p')" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" --help 2>/dev/null |
      grep -oE -- '--[a-z][a-z-]+' | sort -u)" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _lockstep lockstep
