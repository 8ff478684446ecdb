#!/usr/bin/env python3
"""Builds public CUDA programs, runs each under `lockstep exec`, and writes what came of it as a page.

  tools/compatibility.py CHECKOUTS --work DIR [--lockstep PROGRAM] [--only REGEX]... [--suite NAME]... [--page FILE]

CHECKOUTS holds a checkout of each suite's repository, under the name that its table gives (tools/compatibility/*.toml;
the page names where they come from). Everything that is made lies in DIR: programs, their inputs, their output, and
results.json. A run with --only replaces the results of those programs; the page always shows all of results.json.

Keys of a program in a table: name; folder (in the checkout; {folder} in flags and args); sources (in the folder);
flags (of nvcc); arch (virtual architecture, default 75); modules ([source, file]:
PTX or fatbins that it loads); config (default v100); args; runs (several lists of args);
replace ([file, text, other text]: sizes for which there is no argument, and what CUDA no longer takes);
inputs (what tools/compatibility/inputs.py makes in the working directory, ["KIND", "FILE", NUMBER...]); links (what of
the folder the program expects in its working directory); compare (how results are checked against an independent
program: see reference.py); check (a function of checks.py); pass (regular expression that the output must match); fail (one that it must not match;
a suite's is for all of its programs);
skip (one that says that the machine has not what it needs, where its exit code does not);
timed (run with the timing model as well); shows (regular expression of what the page shows of that run's output);
note (for the page).
A program passes when its exit code is 0 and its output says what it must; it is skipped when it says itself that it
needs what the machine does not have.
"""
import argparse
import pathlib
import re

from compatibility import build, execute, page, tables


def wanted(program, arguments):
    if arguments.suite and program.suite.key not in arguments.suite:
        return False
    return not arguments.only or any(re.fullmatch(pattern, program.name) for pattern in arguments.only)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", metavar="CHECKOUTS", type=pathlib.Path)
    parser.add_argument("--work", metavar="DIR", type=pathlib.Path, required=True)
    parser.add_argument("--lockstep", metavar="PROGRAM", type=pathlib.Path, default=pathlib.Path("build/release/lockstep"))
    parser.add_argument("--nvcc", default="/usr/local/cuda/bin/nvcc")
    parser.add_argument("--only", metavar="REGEX", action="append", help="names of programs; may be repeated")
    parser.add_argument("--suite", action="append", choices=tables.suite_keys(), help="may be repeated")
    parser.add_argument("--limit", metavar="SECONDS", type=int, default=300,
                        help="of processor time for each run (default 300)")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--page", metavar="FILE", type=pathlib.Path, help="write the page")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    results = page.Results(arguments.work / "results.json")
    for program in tables.programs(arguments.checkouts.resolve()):
        if not wanted(program, arguments):
            continue
        program.libraries = arguments.lockstep.resolve().parent
        folder = arguments.work.resolve() / program.suite.key / program.name
        error = build.program(program, folder, arguments.nvcc)
        if arguments.build_only:
            print(f"{program.name}: {error or 'built'}", flush=True)
            continue
        if error:
            outcome = execute.Outcome("not built", error)
        else:
            outcome = execute.program(program, folder, arguments.lockstep.resolve(), arguments.limit)
        results.put(program, outcome)
        print(f"{program.name}: {outcome.result} {outcome.seconds:.1f} s  {outcome.reason}", flush=True)
    if arguments.page:
        arguments.page.write_text(page.render(results, tables.suites()))


if __name__ == "__main__":
    main()
