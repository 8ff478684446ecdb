#!/usr/bin/env python3
"""Writes docs/results/*.md: runs the program, and puts its figures beside those of the hardware and of Accel-Sim.

The pages consist of sections, one module each in tools/results/. With --only, the named sections are written again and
the others stay as they are, as do sections that are written by hand. tools/summaries.py then renews the summaries.

  tools/results.py build/release/lockstep DATA [--only SECTION]... [--programs FOLDER]

DATA is a folder with the real traces (traces/bfs-a100, vectoradd-a100, ffma-h100-10 ... -40; the page says where they
come from) and the tables of measurements (hw/*.csv).
"""
import importlib
import os
import sys

import command_line
from results import PAGES, SECTIONS
from results.common import Context, Page
from results.programs import Programs

DEFAULT_OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "results")


def options():
    parser = command_line.Parser(__doc__)
    parser.add_argument("program", metavar="LOCKSTEP", type=command_line.program, help="the program, e.g. build/release/lockstep")
    parser.add_argument("data", metavar="DATA", type=command_line.folder, help="folder with traces/ and hw/")
    parser.add_argument("--only", action="append", choices=SECTIONS, default=[], metavar="SECTION",
                        help="write only this section again; may be repeated; one of " + ", ".join(SECTIONS))
    parser.add_argument("--programs", metavar="FOLDER", type=command_line.folder,
                        help="public CUDA programs as nvcc built them; without it their sections stay as they are")
    parser.add_argument("--work", metavar="DIR", help="keep the traces of the sections about speed here for the next time")
    parser.add_argument("--out", metavar="FOLDER", default=DEFAULT_OUT, help="of the pages; default docs/results")
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


def section_text(context, name, section):
    """The section's text, with the command that writes it again."""
    print(f"results: {name}", file=sys.stderr)
    page = Page()
    section.write(context, page)
    programs = " --programs FOLDER" if getattr(section, "NEEDS_PROGRAMS", False) else ""
    return "\n".join(page.lines).strip() + f"\n\nCommand: `tools/results.py build/release/lockstep DATA --only {name}{programs}`"


def write_page(context, page, only, path, version):
    """Writes the page's sections that `only` names (all, where it is empty) into `path`; the others stay."""
    old = sections_of(path)
    sections = {}
    for name in page.sections:
        section = importlib.import_module("results." + name)
        missing = getattr(section, "NEEDS_PROGRAMS", False) and context.programs is None
        if not missing and (not only or name in only):
            sections[section.TITLE] = section_text(context, name, section)
        elif section.TITLE in old:
            sections[section.TITLE] = old[section.TITLE]
    out = [f"# {page.title}", "",
           f"Written by `tools/results.py build/release/lockstep DATA` with {version}; `--only SECTION` renews a section.", ""]
    for title, text in with_others(sections, old):
        out += [f"## {title}", "", text, ""]
    with open(path, "w") as f:
        f.write("\n".join(out).rstrip() + "\n")


def main():
    arguments = options()
    context = Context(arguments.program, arguments.data, arguments.work)
    context.programs = Programs(context, arguments.programs) if arguments.programs else None
    version = command_line.output_of([context.program, "--version"]).strip()
    for page in PAGES:
        if not arguments.only or set(arguments.only) & set(page.sections):
            write_page(context, page, arguments.only, os.path.join(arguments.out, page.file), version)


if __name__ == "__main__":
    command_line.run(main)
