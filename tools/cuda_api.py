#!/usr/bin/env python3
"""Writes docs/cuda-api.md to standard output: every function of the CUDA runtime and driver API, and what becomes of it here.

  tools/cuda_api.py [--sources DIR]

Which functions there are, src/cuda's lists of NVIDIA's exported names say; which are done, the sources; why others are
refused, tools/cuda_api.toml. A function that is refused without a reason is an error, and so is a reason for none.
"""
import pathlib
import re
import tomllib

import command_line

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFINITION = re.compile(r'(?:LOCKSTEP_CUDA_API|visibility\("default"\)\)\)[^;{(]*?)\s\**(\w+)\(')
HEAD = """# CUDA's APIs, function by function

What becomes of each function that NVIDIA's libraries of CUDA 13.0 export: {names} of `libcudart.so.13` and of `libcuda.so.1`,
forms of earlier versions and those for per-thread default streams among them. All are defined. `./dev docs` writes this page
from the sources; `tools/cuda_api.toml` has the reasons.

* *done*: it does what CUDA's documentation says, as far as one machine can. Hints have no effect where a line on standard
  error says so.
* *refused*: it returns `cudaErrorNotSupported` (`CUDA_ERROR_NOT_SUPPORTED`), and standard error names it.

| API | functions | done | refused |
|---|---|---|---|
"""


def names(file):
    lines = [line for line in file.read_text().splitlines() if not line.startswith("//")]
    return set(re.findall(r"X\((\w+)\)", "\n".join(lines)))


def defined(sources):
    """Functions with a body in the sources, and further names of these."""
    found = set()
    for file in sorted(sources.glob("*.cpp")):
        found |= set(DEFINITION.findall(file.read_text()))
    aliases = dict(re.findall(r"X\((\w+), (\w+)\)", (sources / "aliases.inc").read_text()))
    for alias, target in aliases.items():
        if target not in found:
            raise command_line.Failure(f"{sources}/aliases.inc: {alias} is another name of {target}, which is not defined")
    return found | set(aliases)


def reasons(refused, rules):
    """By name, why it is refused; by rule, in the order of the names."""
    said, used = {}, set()
    for name in sorted(refused):
        rule = next((r for r in rules if re.fullmatch(r["match"], name)), None)
        if rule is None:
            raise command_line.Failure(f"tools/cuda_api.toml: no rule says why {name} is refused")
        said[name] = rule["why"]
        used.add(rule["match"])
    for rule in rules:
        if rule["match"] not in used:
            raise command_line.Failure(f"tools/cuda_api.toml: nothing that is refused matches '{rule['match']}'")
    return said


def group(name):
    """Functions of one subject: the first word after the prefix."""
    word = re.match(r"(?:__cuda|cuda|cu)([A-Z][a-z]*|[A-Z]+(?![a-z]))", name)
    return word[1] if word else name


def table(title, functions, said):
    lines = [f"\n## {title}\n", "| function | state |", "|---|---|"]
    for name in sorted(functions, key=lambda n: (group(n), n)):
        lines.append(f"| `{name}` | {'refused: ' + said[name] if name in said else 'done'} |")
    return lines


def states(sources):
    """Names of the runtime and of the driver, and why those of them are refused that are."""
    runtime, driver = names(sources / "exported_names.inc"), names(sources / "driver_names.inc")
    rules = tomllib.loads((ROOT / "tools/cuda_api.toml").read_text())["refused"]
    return runtime, driver, reasons((runtime | driver) - defined(sources), rules)


def page(sources):
    runtime, driver, said = states(sources)
    rows = []
    for title, functions in (("runtime", runtime), ("driver", driver)):
        refused = len(functions & said.keys())
        rows.append(f"| {title} | {len(functions)} | {len(functions) - refused} | {refused} |")
    lines = table("Runtime API", runtime, said) + table("Driver API", driver, said)
    return HEAD.format(names=len(runtime | driver)) + "\n".join(rows + lines) + "\n"


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("--sources", metavar="DIR", type=command_line.folder, default=str(ROOT / "src/cuda"))
    arguments = parser.parse_args()
    print(page(pathlib.Path(arguments.sources)), end="")


if __name__ == "__main__":
    command_line.run(main)
