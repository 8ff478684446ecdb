"""Builds a program with nvcc, as its suite does: the defaults, and what its table adds."""
import json
import pathlib
import shutil
import subprocess


def _changed(program, folder):
    """A copy of the program's folder with other text where its table says so. Raises ValueError."""
    copy = folder / "source"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(program.folder, copy)
    for name, old, new in program.replace:
        text = (copy / name).read_text(errors="surrogateescape")
        if old not in text:
            raise ValueError(f"{name} has no `{old}`")
        (copy / name).write_text(text.replace(old, new), errors="surrogateescape")
    return copy


def program(program, folder, nvcc):
    """Makes folder/program where it is not there or was made otherwise. The error's first line, or nothing."""
    made = folder / "program"
    sources = [program.folder / source for source in program.sources]
    missing = [source for source in sources if not source.exists()]
    if missing:
        return f"{missing[0]} is not there"
    flags = [program.expand(flag) for flag in [*program.suite.flags, *program.flags]]
    made_of = json.dumps([nvcc, program.arch, flags, program.sources, program.replace, *program.modules])
    record = folder / "made_of.json"
    if made.exists() and record.exists() and record.read_text() == made_of:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    if program.replace:
        try:
            copy = _changed(program, folder)
        except ValueError as error:
            return str(error)
        sources = [copy / source for source in program.sources]
    if program.replace:
        flags.append(f"-I{program.folder}")  # what the copy includes by a path relative to it
    command = [nvcc, f"-arch=sm_{program.arch}", "-w", "-O3", *map(str, sources), *flags, "-o", str(made)]
    result = subprocess.run(command, cwd=program.folder, capture_output=True, text=True, check=False)
    (folder / "build.log").write_text(" ".join(command) + "\n" + result.stdout + result.stderr)
    for source, name in program.modules:
        if result.returncode == 0:
            kind = "-ptx" if name.endswith(".ptx") else "-fatbin"
            command = [nvcc, kind, f"-arch=compute_{program.arch}", "-w", str(program.folder / source), "-o",
                       str(folder / name), *[flag for flag in flags if flag.startswith(("-I", "-std"))]]
            result = subprocess.run(command, cwd=program.folder, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        record.write_text(made_of)
        return None
    lines = [line for line in result.stderr.splitlines() if "error" in line or "undefined" in line]
    return (lines or ["nvcc failed"])[0].replace(str(pathlib.Path(program.checkout)) + "/", "")[:160]
