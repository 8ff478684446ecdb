"""Results of all programs as a file, and as a page: docs/compatibility.md, docs/compatibility-suites.md."""
import dataclasses
import fcntl
import json

MEANING = [("passes", "exit code 0, and what checks it says that its results are right"),
           ("skipped", "it ends by itself: the configured machine has not what it needs"),
           ("wrong", "it ran, and its results are not right"),
           ("error", "it did not run to its end"),
           ("too slow", "it was stopped"),
           ("not built", "it was not there to be run"),
           ("not run", "not in the runs that this page is of")]
NOT_RUN = {"result": "not run", "reason": "", "seconds": 0, "timed": "", "checked": "", "arguments": "", "config": "",
           "note": "", "changed": ""}


class Results:
    def __init__(self, path):
        self.path = path
        self.rows = json.loads(path.read_text()) if path.exists() else {}

    def put(self, program, outcome):
        row = dataclasses.asdict(outcome)
        row["arguments"] = " ; ".join(" ".join(map(str, args)) for args in program.runs or [program.args])
        row["config"] = program.config if program.gpus == 1 else f"{program.config}, {program.gpus} GPUs"
        row["note"] = program.note
        row["options"] = " ".join(map(str, program.options))
        row["changed"] = ", ".join(program.changed)
        with open(self.path.with_suffix(".lock"), "w", encoding="utf-8") as lock:  # others may run other programs
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.rows = json.loads(self.path.read_text()) if self.path.exists() else {}
            self.rows.setdefault(program.suite.key, {})[program.name] = row
            whole = self.path.with_suffix(".new")
            whole.write_text(json.dumps(self.rows, indent=1, sort_keys=True))
            whole.replace(self.path)  # who reads without the lock finds no half of a file

    def has(self, suite):
        """Whether a program of the suite was run."""
        return suite.key in self.rows

    def outcomes(self, suite):
        """(name, row) of the suite's programs, in the order of its table."""
        rows = self.rows.get(suite.key, {})
        return [(program["name"], rows.get(program["name"], NOT_RUN)) for program in suite.programs]


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]


def _checked_by(row):
    return row["checked"] or "its own check"


def _remarks(row):
    changed = f"changed in the source: `{row['changed']}`" if row.get("changed") else ""
    options = f"with `{row['options']}`" if row.get("options") else ""
    return "; ".join(filter(None, [row["reason"], row["note"], options, changed]))


def _suite(results, suite):
    outcomes = results.outcomes(suite)
    passed = sum(row["result"] == "passes" for _, row in outcomes)
    lines = ["", f"## {suite.title}: {passed} of {len(outcomes)} pass", "", f"From {suite.origin}. {suite.note}".strip(), ""]
    return lines + _table(
        ["program", "arguments", "GPU", "result", "checked by", "s", "with timing", "reason or note"],
        [[name, f"`{row['arguments']}`" if row["arguments"] else "", row["config"], row["result"], _checked_by(row),
          f"{row['seconds']:.0f}", row["timed"], _remarks(row)]
         for name, row in outcomes])


def render(results, suites):
    """The page of those suites of which there are results."""
    suites = [suite for suite in suites if results.has(suite)]
    lines = ["# Public programs under `lockstep exec`", "",
             "Public CUDA programs, built outside of this project with nvcc 13 (its defaults, and what their own makefiles "
             "add; older ones with `-include tools/compatibility/before_cuda_13.h`) and run with `lockstep exec "
             "--functional`. This page is what `tools/compatibility.py` wrote; its tables (`tools/compatibility/*.toml`) "
             "say what input each program gets and what its output must say. Seconds are of processor time, of the whole "
             "program. The suites are on two pages, each of one series of runs: [samples, Rodinia, HeCBench, CUTLASS and "
             "others](compatibility.md), and [further suites of benchmarks](compatibility-suites.md). Programs of MPI and "
             "CUDA are in [their own table](mpi-programs.md#public-programs).", ""]
    lines += _table(["result", "means"], MEANING)
    lines += [""] + _table(["suite", "programs", *(result for result, _ in MEANING)], [
        [suite.title, len(results.outcomes(suite)),
         *(sum(row["result"] == result for _, row in results.outcomes(suite)) for result, _ in MEANING)]
        for suite in suites])
    for suite in suites:
        lines += _suite(results, suite)
    return "\n".join(lines) + "\n"
