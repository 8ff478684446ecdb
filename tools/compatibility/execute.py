"""Runs a built program under `lockstep exec` and judges what it printed."""
import dataclasses
import os
import re
import resource
import shutil
import signal
import subprocess

from . import checks, inputs, reference

WAIVED = 2  # EXIT_WAIVED of cuda-samples
STILL = 10  # wall-clock seconds of a second of processor time, at most
OUT_OF_TIME = (128 + signal.SIGXCPU, 128 + signal.SIGKILL)
KEYS = 1000 * "\n"  # for programs that wait for a key
FAILURE = r"(?i:\bfailed\b|\bfailure\b|cuda error|lockstep: .*(?:not supported|illegal address|misaligned|deadlock)|\bmismatch)"


@dataclasses.dataclass
class Outcome:
    result: str  # passes, skipped, wrong, error, too slow, not built
    reason: str = ""
    seconds: float = 0
    timed: str = ""
    checked: str = ""


def _prepare(program, built, folder):
    """An empty working directory with what stands beside the program and its inputs. Some programs look for them up to three
    folders above."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    run = folder / "run/1/2/3"
    run.mkdir(parents=True)
    for file in built.iterdir():
        if file.name not in ("program", "reference"):
            (run / file.name).symlink_to(file)
    for kind, name, *arguments in program.inputs:
        path = (run / name).resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        inputs.KINDS[kind](path, *arguments)
    return run


def _command(command, run, limit, variables=None):
    """Exit code (None: out of time), output, seconds of processor time. `limit`: such seconds of one process; `variables`: of
    the environment, beside our own. Ends all processes that the command has left when it stands still."""
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, cwd=run, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                               env={**os.environ, **(variables or {})},
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 2)))
    try:
        output, _ = process.communicate(input=KEYS, timeout=STILL * limit)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        code = None
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
    return None if code in OUT_OF_TIME else code, output, seconds


def _first(pattern, output):
    found = re.search(f"^.*(?:{pattern}).*$", output, re.MULTILINE)
    return found.group(0).strip()[:160] if found else ""


def _judge(program, code, output, limit, built):
    output = output.replace(f"{built}/", "")  # the page names no folders of this machine
    if code is None:
        return "too slow", f"more than {limit} s"
    if code == WAIVED and not program.compare:
        return "skipped", (output.strip().splitlines() or ["exit code 2"])[-1][:160]
    if program.skips and (said := _first(program.skips, output)):
        return "skipped", said
    complaint = _first(r"lockstep: ", output)
    if code != program.code:
        return "error", complaint or _first(FAILURE, output) or f"exit code {code}"
    if bad := _first("|".join(filter(None, (program.fails or FAILURE, program.suite.fail))), output):
        return "wrong", bad
    if program.passes and not re.search(program.passes, output, re.MULTILINE):
        return "wrong", f"the output does not have /{program.passes}/"
    return "passes", ""


def _checked_by(program):
    if program.compare:
        return "a program for the CPU"
    return "tools/compatibility/checks.py" if program.check else program.checked


def program(program, built, folder, lockstep, limit):
    """Runs it, in `folder`, from where it was `built`."""
    outcome = Outcome("passes", checked=_checked_by(program))
    machine = ["-c", program.config, *(["--gpus", str(program.gpus)] if program.gpus > 1 else []), *map(str, program.options)]
    for number, args in enumerate(program.runs or [program.args]):
        run = _prepare(program, built, folder)
        tail = ["--", str(built / "program"), *map(str, args)]
        code, output, seconds = _command([lockstep, "exec", "--functional", "--threads", "1", *machine, *tail], run, limit,
                                         program.environment)
        (folder / f"output{number or ''}.log").write_text(output)
        outcome.seconds += seconds
        outcome.result, outcome.reason = _judge(program, code, output, limit, built)
        if outcome.result == "passes" and program.compare:
            outcome.reason = reference.compare(program, built, run, output, lambda: _prepare(program, built, folder))
            outcome.result = "wrong" if outcome.reason else "passes"
        if outcome.result == "passes" and program.check:
            outcome.reason = checks.KINDS[program.check](run, output, args)
            outcome.result = "wrong" if outcome.reason else "passes"
        if outcome.result != "passes":
            return outcome
    if program.timed:
        run = _prepare(program, built, folder)
        code, output, _ = _command([lockstep, "exec", *machine, *tail], run, limit, program.environment)
        (folder / "timed.log").write_text(output)
        outcome.timed, reason = _judge(program, code, output, limit, built)
        cycles = re.search(r"whole run: ([\d,]+) core cycles", output)
        outcome.timed += f", {cycles.group(1)} cycles" if cycles else ""
        outcome.timed += f": {reason}" if reason else ""
        if shown := program.shows and re.search(program.shows, output):
            outcome.timed += f"; prints {' '.join(shown.group(0).split())}"
    return outcome
