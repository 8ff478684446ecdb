#!/usr/bin/env python3
"""Runs public CUDA programs, built elsewhere, under `lockstep exec`, and writes what came of it as a page.

  tools/compatibility.py PROGRAMS --work DIR [--lockstep PROGRAM] [--only REGEX]... [--suite NAME]... [--page FILE]

PROGRAMS/SUITE/NAME holds a program of the tables (tools/compatibility/*.toml) as `program`, and beside it the files that it
looks for in its working directory; where the table has `compare`, also another program, for the CPU, as `reference`. Inputs,
output and results.json lie in DIR. A run with --only replaces the results of those programs; the page always shows all of
results.json, so suites that were run with another DIR have a page of their own.

Keys of a program in a table: name; config (default v100); gpus (if config is a system: how many of its GPUs); options (of lockstep exec); args; runs (several lists of args); environment
(variables that are set for it); changed (what its source has
in place of its own text: sizes for which there is no argument, and what CUDA no longer takes); inputs (what
tools/compatibility/inputs.py makes in the working directory, ["KIND", "FILE", NUMBER...]); compare (how results are checked
against the reference: see reference.py); check (a function of checks.py); pass (regular expression that the output must
match); fail (one that it must not match; a suite's is for all of its programs); skip (one that says that the machine has not
what it needs, where its exit code does not); code (its exit code where all is right, if that is not 0); timed (run with the timing model as well); shows (regular expression of what the
page shows of that run's output); checked (by what, where it is not by the program itself); note (for the page).
A program passes when its exit code is 0, or `code`, and its output says what it must; it is skipped when it says itself that it
needs what the machine does not have.
"""
import argparse
import pathlib
import re

import command_line
from compatibility import execute, page, tables


def existing_folder(text):
    return pathlib.Path(command_line.folder(text))


def existing_program(text):
    return pathlib.Path(command_line.program(text))


def pattern(text):
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"found '{text}', expected a regular expression: {error}") from None
    return text


def wanted(program, arguments):
    if arguments.suite and program.suite.key not in arguments.suite:
        return False
    return not arguments.only or any(re.fullmatch(pattern, program.name) for pattern in arguments.only)


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("programs", metavar="PROGRAMS", type=existing_folder)
    parser.add_argument("--work", metavar="DIR", type=pathlib.Path, required=True)
    parser.add_argument("--lockstep", metavar="PROGRAM", type=existing_program,
                        default="build/release/lockstep")
    parser.add_argument("--only", metavar="REGEX", action="append", type=pattern, help="names of programs; may be repeated")
    parser.add_argument("--suite", action="append", choices=tables.suite_keys(), help="may be repeated")
    parser.add_argument("--limit", metavar="SECONDS", type=command_line.whole(1), default=300,
                        help="of processor time for each run (default 300)")
    parser.add_argument("--page", metavar="FILE", type=pathlib.Path, help="write the page")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    results = page.Results(arguments.work / "results.json")
    for program in tables.programs():
        if not wanted(program, arguments):
            continue
        built = arguments.programs.resolve() / program.suite.key / program.name
        if (built / "program").exists():
            folder = arguments.work.resolve() / program.suite.key / program.name
            outcome = execute.program(program, built, folder, arguments.lockstep.resolve(), arguments.limit)
        else:
            outcome = execute.Outcome("not built")
        results.put(program, outcome)
        print(f"{program.name}: {outcome.result} {outcome.seconds:.1f} s  {outcome.reason}", flush=True)
    if arguments.page:
        arguments.page.write_text(page.render(results, tables.suites()))


if __name__ == "__main__":
    command_line.run(main)
