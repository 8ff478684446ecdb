"""Runs a built program under `lockstep exec` and judges what it printed."""
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import time

from . import inputs, reference

WAIVED = 2  # EXIT_WAIVED of cuda-samples
FAILURE = r"(?i:\bfailed\b|\bfailure\b|cuda error|lockstep: .*not supported|\bmismatch)"


@dataclasses.dataclass
class Outcome:
    result: str  # passes, skipped, wrong, error, too slow, not built
    reason: str = ""
    seconds: float = 0
    timed: str = ""
    checked: str = ""


def _prepare(program, folder):
    """An empty working directory with the program's inputs. Some programs look for them up to three folders above."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    run = folder / "run/1/2/3"
    run.mkdir(parents=True)
    for link in program.links:
        if (program.folder / link).exists():
            (run / link).symlink_to(program.folder / link)
    for kind, name, *arguments in program.inputs:
        path = (run / name).resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        inputs.KINDS[kind](path, *arguments)
    return run


def _command(command, run, limit):
    """Exit code (None: out of time), output, seconds. Ends all processes that the command has left."""
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=run, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        code = None
    return code, output, time.monotonic() - start


def _first(pattern, output):
    found = re.search(f"^.*(?:{pattern}).*$", output, re.MULTILINE)
    return found.group(0).strip()[:160] if found else ""


def _judge(program, code, output, limit):
    if code is None:
        return "too slow", f"more than {limit:.0f} s"
    if code == WAIVED and not program.compare:
        return "skipped", (output.strip().splitlines() or ["exit code 2"])[-1][:160]
    complaint = _first(r"lockstep: ", output)
    if code != 0:
        return "error", complaint or _first(FAILURE, output) or f"exit code {code}"
    if bad := _first(program.fails or FAILURE, output):
        return "wrong", bad
    if program.passes and not re.search(program.passes, output, re.MULTILINE):
        return "wrong", f"the output does not have /{program.passes}/"
    return "passes", ""


def program(program, folder, lockstep, limit):
    outcome = Outcome("passes", checked="a program for the CPU" if program.compare else program.checked)
    for number, args in enumerate(program.runs or [program.args]):
        run = _prepare(program, folder)
        tail = ["--", str(folder / "program"), *(program.expand(str(arg)) for arg in args)]
        code, output, seconds = _command([lockstep, "exec", "--functional", "-c", program.config, *tail], run, limit)
        (folder / f"output{number or ''}.log").write_text(output)
        outcome.seconds += seconds
        outcome.result, outcome.reason = _judge(program, code, output, limit)
        if outcome.result == "passes" and program.compare:
            outcome.reason = reference.compare(program, folder, run, output, lambda: _prepare(program, folder))
            outcome.result = "wrong" if outcome.reason else "passes"
        if outcome.result != "passes":
            return outcome
    if program.timed:
        run = _prepare(program, folder)
        code, output, _ = _command([lockstep, "exec", "-c", program.config, *tail], run, limit)
        (folder / "timed.log").write_text(output)
        outcome.timed, reason = _judge(program, code, output, limit)
        cycles = re.search(r"whole run: ([\d,]+) core cycles", output)
        outcome.timed += f", {cycles.group(1)} cycles" if cycles else ""
        outcome.timed += f": {reason}" if reason else ""
    return outcome
