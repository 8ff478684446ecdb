#!/usr/bin/env python3
"""What lowering makes of the example kernels, beside what ptxas makes of them: registers and static instructions.

  tools/lowering_compare.py LOCKSTEP             tables for docs/lowering.md, from tools/lowering_ptxas.csv
  tools/lowering_compare.py --measure PTXAS      writes tools/lowering_ptxas.csv anew
  tools/lowering_compare.py --ptxas PTXAS LOCKSTEP FILE...
                                                 the errors over other PTX files, with and without the last two steps

--measure runs `PTXAS -arch sm_X FILE.ptx -o CUBIN` for each file of examples/ptx and reads the cubin: registers from
attribute 0x2f of .nv.info, instructions from the size of .text.KERNEL, less the branch to itself and the NOPs at its end.
"""
import csv
import os
import statistics
import struct
import subprocess
import tempfile

import command_line

HERE = os.path.dirname(os.path.abspath(__file__))
PTX = os.path.join(HERE, "..", "examples", "ptx")
DATA = os.path.join(HERE, "lowering_ptxas.csv")
ARCHITECTURES = (75, 80, 90)
STEPS = ("fusion", "constants", "unroll", "merge", "schedule", "rest", "predication", "integers", "setup", "temporaries", "slow_paths")  # in the order in which the table adds them; left_out changes no code
# The low twelve bits of a 16-byte instruction, from cubins of kernels that end in nothing else.
NOP, BRANCH = 0x918, 0x947


def sections(cubin):
    """Name to (contents, link) of each section of an ELF-64 file."""
    table, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + i * size) for i in range(count)]
    text = headers[names][4]
    found = []
    for name, kind, _, _, offset, length, link, *_ in headers:
        end = cubin.index(b"\0", text + name)
        found.append((cubin[text + name:end].decode(), b"" if kind == 8 else cubin[offset:offset + length], link))
    return found


def kernels(cubin):
    """Kernel to (registers, instructions)."""
    all_sections = sections(cubin)
    code = {name[6:]: contents for name, contents, _ in all_sections if name.startswith(".text.")}
    found = {}
    for name, contents, link in all_sections:
        if name != ".nv.info":
            continue
        symbols = all_sections[link]
        names = all_sections[symbols[2]][1]
        at = 0
        while at < len(contents):
            form, attribute, size = struct.unpack_from("<BBH", contents, at)
            if form == 4 and attribute == 0x2F:
                symbol, registers = struct.unpack_from("<II", contents, at + 4)
                start, = struct.unpack_from("<I", symbols[1], symbol * 24)
                found[names[start:names.index(b"\0", start)].decode()] = registers
            at += 4 + size if form == 4 else 4
    return {kernel: (registers, instructions(code[kernel])) for kernel, registers in found.items() if kernel in code}


def instructions(code):
    count = len(code) // 16
    while count and struct.unpack_from("<Q", code, (count - 1) * 16)[0] & 0xFFF == NOP:
        count -= 1
    if count and struct.unpack_from("<Q", code, (count - 1) * 16)[0] & 0xFFF == BRANCH:
        count -= 1
    return count


def compiled(ptxas, path, arch):
    """Kernel to (registers, instructions); none where the architecture does not have a form of the file."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "cubin")
        done = subprocess.run([ptxas, "-arch", f"sm_{arch}", path, "-o", cubin], capture_output=True, check=False)
        if done.returncode != 0:
            return {}
        with open(cubin, "rb") as f:
            return kernels(f.read())


def measure(ptxas):
    with open(DATA, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["file", "kernel", "arch", "registers", "instructions"])
        for file in sorted(os.listdir(PTX)):
            for arch in ARCHITECTURES:
                for kernel, (registers, count) in sorted(compiled(ptxas, os.path.join(PTX, file), arch).items()):
                    writer.writerow([file, kernel, arch, registers, count])


def lowered(program, path, arch, without):
    """Kernel to (registers, instructions)."""
    command = [program, "lower", path, "--arch", str(arch)]
    for step in without:
        command += ["--without", step]
    text = command_line.output_of(command)
    rows = (line.split("\t") for line in text.splitlines())
    return {kernel: (int(registers), int(count)) for kernel, registers, count in rows}


def compare(program):
    with open(DATA) as f:
        table = list(csv.DictReader(f))
    print("| steps | registers: mean error | median | instructions: mean error | median |")
    print("|---|---|---|---|---|")
    for count in range(len(STEPS) + 1):
        errors = [[], []]
        cache, lines = {}, []
        for row in table:
            key = row["file"], int(row["arch"])
            if key not in cache:
                cache[key] = lowered(program, os.path.join(PTX, key[0]), key[1], STEPS[count:])
            ours = cache[key][row["kernel"]]
            for which, column in enumerate(("registers", "instructions")):
                errors[which].append(abs(ours[which] / int(row[column]) - 1))
            lines.append((row, ours))
        name = " + ".join(("opcode by opcode",) + STEPS[:count])
        print(f"| {name} | " + " | ".join(f"{100 * statistics.mean(e):.0f} % | {100 * statistics.median(e):.0f} %"
                                          for e in errors) + " |")
    print("\n| file | kernel | sm | registers: ptxas | ours | instructions: ptxas | ours |\n|---|---|---|---|---|---|---|")
    for row, ours in lines:
        print(f"| {row['file']} | `{row['kernel']}` | {row['arch']} | {row['registers']} | {ours[0]} | "
              f"{row['instructions']} | {ours[1]} |")


def compare_files(program, ptxas, files):
    print("| steps | sm | kernels | registers: mean error | median | instructions: mean error | median |")
    print("|---|---|---|---|---|---|---|")
    for without in (STEPS[-2:], ()):
        for arch in ARCHITECTURES:
            errors = [[], []]
            for path in files:
                ours = lowered(program, path, arch, without)
                for kernel, theirs in compiled(ptxas, path, arch).items():
                    for which in (0, 1):
                        errors[which].append(abs(ours[kernel][which] / theirs[which] - 1))
            print(f"| {'all but ' + ', '.join(without) if without else 'all'} | {arch} | {len(errors[0])} | "
                  + " | ".join(f"{100 * statistics.mean(e):.0f} % | {100 * statistics.median(e):.0f} %" for e in errors) + " |")


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("program", metavar="LOCKSTEP", type=command_line.program, help="build/release/lockstep; with --measure: ptxas")
    parser.add_argument("--measure", action="store_true", help="write the table of ptxas anew")
    parser.add_argument("--ptxas", metavar="PTXAS", type=command_line.program, help="compare FILEs as this program compiles them")
    parser.add_argument("files", nargs="*", metavar="FILE", type=command_line.file, help="with --ptxas: PTX files")
    arguments = parser.parse_args()
    if bool(arguments.ptxas) != bool(arguments.files):
        parser.error("--ptxas and FILE: expected both or neither")
    if arguments.ptxas and arguments.measure:
        parser.error("--ptxas and --measure: expected one of them")
    if arguments.ptxas:
        compare_files(arguments.program, arguments.ptxas, arguments.files)
    elif arguments.measure:
        measure(arguments.program)
    else:
        compare(arguments.program)


if __name__ == "__main__":
    command_line.run(main)
