#!/usr/bin/env python3
"""Writes docs/results.md: runs the program, and puts its figures beside those of the hardware and of Accel-Sim.

The page consists of sections, one module each in tools/results/. With --only, the named sections are written again and
the others stay as they are.

  tools/results.py build/release/lockstep DATA [--only SECTION]... [--programs FOLDER]

DATA is a folder with the real traces (traces/bfs-a100, vectoradd-a100, ffma-h100-10 ... -40; the page says where they
come from) and the tables of measurements (hw/*.csv).
"""
import importlib
import os
import sys

import command_line
from results import SECTIONS
from results.common import Context, Page
from results.programs import Programs

DEFAULT_OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "results.md")


def options():
    parser = command_line.Parser(__doc__)
    parser.add_argument("program", metavar="LOCKSTEP", type=command_line.program, help="the program, e.g. build/release/lockstep")
    parser.add_argument("data", metavar="DATA", type=command_line.folder, help="folder with traces/ and hw/")
    parser.add_argument("--only", action="append", choices=SECTIONS, default=[], metavar="SECTION",
                        help="write only this section again; may be repeated; one of " + ", ".join(SECTIONS))
    parser.add_argument("--programs", metavar="FOLDER", type=command_line.folder,
                        help="public CUDA programs as nvcc built them; without it their sections stay as they are")
    parser.add_argument("--work", metavar="DIR", help="keep the traces of the sections about speed here for the next time")
    parser.add_argument("--out", metavar="FILE", default=DEFAULT_OUT, help="default docs/results.md")
    return parser.parse_args()


def sections_of(path):
    """The sections of an existing page: heading to its text without the heading."""
    found, title = {}, None
    if os.path.exists(path):
        with open(path) as f:
            for line in f.read().splitlines():
                if line.startswith("## "):
                    title = line[3:]
                    found[title] = []
                elif title is not None:
                    found[title].append(line)
    return {title: "\n".join(lines).strip() for title, lines in found.items()}


def with_others(sections, old):
    """`sections` and what the old page has beside them, which is written by hand: each behind what it stood behind."""
    order, before = list(sections), None
    for title in old:
        if title not in order:
            order.insert(order.index(before) + 1 if before else 0, title)
        before = title
    return [(title, sections.get(title, old.get(title))) for title in order]


def main():
    arguments = options()
    context = Context(arguments.program, arguments.data, arguments.work)
    context.programs = Programs(context, arguments.programs) if arguments.programs else None
    version = command_line.output_of([context.program, "--version"]).strip()
    old = sections_of(arguments.out)
    sections = {}
    for name in SECTIONS:
        section = importlib.import_module("results." + name)
        missing = getattr(section, "NEEDS_PROGRAMS", False) and context.programs is None
        if missing or (arguments.only and name not in arguments.only):
            if section.TITLE in old:
                sections[section.TITLE] = old[section.TITLE]
            continue
        print(f"results: {name}", file=sys.stderr)
        page = Page()
        section.write(context, page)
        programs = " --programs FOLDER" if getattr(section, "NEEDS_PROGRAMS", False) else ""
        sections[section.TITLE] = "\n".join(
            page.lines).strip() + f"\n\nCommand: `tools/results.py build/release/lockstep DATA --only {name}{programs}`"
    out = ["# Results", "",
           f"Written by `tools/results.py build/release/lockstep DATA` with {version}; `--only SECTION` renews a section.", ""]
    for title, text in with_others(sections, old):
        out += [f"## {title}", "", text, ""]
    with open(arguments.out, "w") as f:
        f.write("\n".join(out).rstrip() + "\n")


if __name__ == "__main__":
    command_line.run(main)
