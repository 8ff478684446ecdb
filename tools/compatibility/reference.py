"""Checks results against another program that computes the same on the CPU: Rodinia's OpenMP versions.

`compare` of a program: args of the other program; `files` that both write, or nothing for
what both print; `lines` (only lines that match take part); `numbers` (the words between the numbers may differ);
`unordered` (the lines may stand in another order); `tolerance` (relative, of numbers that are not whole, and of
the largest number of the line); `floats` (the files are 32-bit floating-point numbers in binary, all of them one line) or
`bytes` (they are the same to the byte).
"""
import array
import re
import subprocess

NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf)"


def _words(text, lines):
    """Per line that takes part: its numbers, and the rest."""
    kept = [line for line in text.splitlines() if line.strip() and (not lines or re.search(lines, line))]
    return [([float(n) for n in re.findall(NUMBER, line)], re.sub(NUMBER, "#", line).split()) for line in kept]


def _floats(data):
    """The numbers of a binary file as one line. Rest: what is no whole number."""
    whole = len(data) // 4 * 4
    return [(list(array.array("f", data[:whole])), [data[whole:]])]


def _difference(ours, theirs, how):
    tolerance, words = how.get("tolerance", 1e-4), not how.get("numbers")
    if how.get("unordered"):
        ours, theirs = sorted(ours), sorted(theirs)
    if not theirs:
        return "the reference program's results are empty"
    if len(ours) != len(theirs):
        return f"{len(ours)} lines of results, the reference program has {len(theirs)}"
    for line, ((numbers, rest), (expected, expected_rest)) in enumerate(zip(ours, theirs), 1):
        if (words and rest != expected_rest) or len(numbers) != len(expected):
            return f"line {line} of the results has another form than the reference program's"
        scale = max((abs(number) for number in expected), default=0)
        for number, right in zip(numbers, expected):
            if not abs(number - right) <= tolerance * max(abs(right), 0.01 * scale):
                return f"line {line} of the results: {number:g}, the reference program has {right:g}"
    return ""


def compare(program, built, run, output, prepare):
    """The first difference, or nothing. `run`: where the program ran; `prepare()` makes another such folder."""
    if not (built / "reference").exists():
        return "the reference program is not built"
    how = program.compare
    kept = {name: (run / name).read_bytes() for name in how.get("files", []) if (run / name).exists()}
    run = prepare()
    command = [str(built / "reference"), *map(str, how.get("args", program.args))]
    result = subprocess.run(command, cwd=run, input=1000 * "\n", capture_output=True, text=True, errors="replace", timeout=600,
                            check=False)
    for name in how.get("files", []):
        if name not in kept or not (run / name).exists():
            return f"{name} was not written" + ("" if name not in kept else " by the reference program")
        both = kept[name], (run / name).read_bytes()
        if how.get("bytes"):
            if both[0] != both[1]:
                return f"{name}: not the bytes of the reference program"
            continue
        if how.get("floats"):
            ours, theirs = map(_floats, both)
        else:
            ours, theirs = (_words(data.decode(errors="replace"), how.get("lines")) for data in both)
        if difference := _difference(ours, theirs, how):
            return f"{name}: {difference}"
    if not how.get("files"):
        printed = result.stdout + result.stderr
        return _difference(_words(output, how.get("lines")), _words(printed, how.get("lines")), how)
    return ""
