# shellcheck shell=bash
# For jobs of SLURM, to be read with `.`: run_and_requeue COMMAND ARGUMENTS.
#
# Runs the command and hands SIGUSR1 and SIGTERM on to it. Where it then ends with 75, having kept its state after SIGUSR1
# (the time limit, `#SBATCH --signal=B:USR1@...`), the job is queued again. SIGTERM alone is scancel's: the job is not wanted.
run_and_requeue() {
  local code=0 limit=0 heard=1 child
  "$@" &
  child=$!
  trap 'heard=1; limit=1; kill -USR1 "$child" 2>/dev/null || true' USR1
  trap 'heard=1; kill -TERM "$child" 2>/dev/null || true' TERM
  while ((heard)); do  # a signal ends the waiting, not the command, whose code a further wait gives
    heard=0
    code=0
    wait "$child" || code=$?
  done
  trap - USR1 TERM
  if ((code == 75 && limit)); then
    echo "requeued: the next job goes on from the checkpoint"
    scontrol requeue "$SLURM_JOB_ID"
  fi
  return "$code"
}
