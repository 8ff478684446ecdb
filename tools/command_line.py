"""Command lines of the tools: what is wrong with what they are given is one line on standard error, and exit code 2.

A tool's arguments are read by Parser, with types from here (file, folder, program, whole); its main() is called by run(), and what it
finds wrong with an input later it raises as Failure.
"""
import argparse
import csv
import json
import math
import os
import shutil
import subprocess
import sys


class Failure(Exception):
    """What the user can mend, in one line."""


class Parser(argparse.ArgumentParser):
    """Of a tool's arguments; `description` is its __doc__, as it is written."""

    def __init__(self, description):
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message):
        fail(f"{message} (--help says what is expected)")


def file(path):
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"{path}: {'is a folder' if os.path.isdir(path) else 'no such file'}")
    return path


def folder(path):
    if not os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"{path}: {'is not a folder' if os.path.exists(path) else 'no such folder'}")
    return path


def program(path):
    """A path of a program, or a name that PATH has."""
    found = shutil.which(path)
    if found is None:
        raise argparse.ArgumentTypeError(f"{path}: no such program")
    return found


def whole(least, most=None):
    """Numbers from `least` on."""
    def number(text):
        value = int(text) if text.isascii() and text.isdigit() else None
        if value is None or value < least or (most is not None and value > most):
            up = f"from {least} to {most}" if most is not None else f"from {least} on"
            raise argparse.ArgumentTypeError(f"found '{text}', expected a whole number {up}")
        return value
    return number


def whole_list(least):
    """Such numbers with commas between them."""
    return lambda text: [whole(least)(part) for part in text.split(",")]


def table(path, texts=(), numbers=()):
    """Rows of a CSV file that has these columns; values stay as they are written, and those of `numbers` are numbers.
    A line that begins with # is a comment.
    """
    with open(path, newline="", encoding="utf-8", errors="replace") as f:
        try:
            reader = csv.DictReader(line for line in f if not line.startswith("#"))
            for name in (*texts, *numbers):
                if name not in (reader.fieldnames or []):
                    raise Failure(f"{path}: no column '{name}'")
            return [checked_row(path, reader.line_num, row, texts, numbers) for row in reader]
        except csv.Error as error:
            raise Failure(f"{path}: no CSV file: {error}") from None


def checked_row(path, line, row, texts, numbers):
    for name in texts:
        if row[name] is None:
            raise Failure(f"{path}:{line}: no value for '{name}'")
    for name in numbers:
        try:
            good = math.isfinite(float(row[name]))
        except (TypeError, ValueError):
            good = False
        if not good:
            raise Failure(f"{path}:{line}: {name}: found '{row[name] or ''}', expected a number")
    return row


def read_json(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        try:
            return json.load(f)
        except ValueError as error:
            raise Failure(f"{path}: no JSON file: {error}") from None


def output_of(command, **options):
    """What a program writes to standard output; its last line on standard error is the failure's."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        raise Failure(ended(command, done.returncode, done.stderr))
    sys.stderr.write(done.stderr)
    return done.stdout


def ended(command, code, messages=""):
    """One line on a program that failed."""
    lines = (messages or "").strip().splitlines()
    return f"{' '.join(map(str, command))}: {lines[-1] if lines else f'ended with code {code}'}"


def fail(message):
    print(f"{os.path.basename(sys.argv[0])}: error: {' '.join(str(message).split())}", file=sys.stderr)
    sys.exit(2)


def run(main):
    """Calls main(), whose result, where it has one, is the exit code."""
    try:
        sys.exit(main())
    except Failure as failure:
        fail(failure)
    except BrokenPipeError:
        sys.stdout = None  # who reads it has gone: nothing to flush
        sys.exit(1)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else error)
    except subprocess.CalledProcessError as error:
        fail(ended(error.cmd, error.returncode, error.stderr))
    except KeyboardInterrupt:
        sys.exit(130)
