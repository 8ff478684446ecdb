#!/usr/bin/env python3
"""Writes the tables of docs/accuracy.md and docs/speed.md from the pages of docs/results and docs/studies/energy.md.

  tools/summaries.py [--out FOLDER]

Each page keeps what stands around its tables. A table stands between `<!-- table NAME -->` and `<!-- end -->`. `./dev docs` runs this.
"""
import math
import os
import re
import statistics

import command_line

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")


class Text:
    """A page of docs/, by its headings and tables."""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(DOCS, path)) as f:
            self.lines = f.read().splitlines()

    def section(self, *headings):
        """The lines below the first heading that is `headings`, one inside the other, to the next heading of its level."""
        lines = self.lines
        for heading in headings:
            at = [i for i, line in enumerate(lines) if re.fullmatch(r"#+ " + re.escape(heading), line)]
            if not at:
                raise command_line.Failure(f"{self.path}: found no heading '{heading}'")
            level = lines[at[0]].split(" ")[0]
            rest = lines[at[0] + 1:]
            end = next((i for i, line in enumerate(rest) if re.match(r"#+ ", line) and len(line.split(" ")[0]) <= len(level)), len(rest))
            lines = rest[:end]
        return lines

    def rows(self, headings, column):
        """Rows of the section's tables that have `column`, as dictionaries."""
        found, header = [], None
        for line in self.section(*headings):
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")] if line.startswith("|") else None
            if cells is None:
                header = None
            elif header is None:
                header = cells
            elif column in header and not line.startswith("|---"):
                found.append(dict(zip(header, cells)))
        if not found:
            raise command_line.Failure(f"{self.path}: found no table with a column '{column}' below '{headings[-1]}'")
        return found


def percent(text):
    """ "+4.2 %" as 4.2, "inside" (a published range) as 0, anything else as None."""
    found = re.match(r"([+-]?\d+\.\d+)(?: %|$)", text)
    return 0.0 if text == "inside" else float(found.group(1)) if found else None


def of_errors(errors):
    """Cells rows, mean, median, p90 (nearest rank), maximum of percentages."""
    ordered = sorted(abs(e) for e in errors)
    p90 = ordered[math.ceil(0.9 * len(ordered)) - 1]
    return [len(ordered), *(f"{v:.1f} %" for v in (statistics.mean(ordered), statistics.median(ordered), p90, ordered[-1]))]


def column(page, headings, name, keep=lambda row: True):
    errors = [percent(row[name]) for row in Text(page).rows(headings, name) if keep(row)]
    return of_errors([e for e in errors if e is not None])


def sentence(page, heading, start):
    """The cells of the sentence "Error: mean ..." behind `start`."""
    text = " ".join(Text(page).section(heading))
    found = re.search(re.escape(start) + r"[^|]*?Error: mean ([\d.]+ %), median ([\d.]+ %), p90 ([\d.]+ %), maximum ([\d.]+ %) of (\d+) rows", text)
    if not found:
        raise command_line.Failure(f"docs/{page}: found no errors behind '{start}'")
    return [int(found.group(5)), *found.groups()[:4]]


def tables(heading, name, gpus):
    """Tables of memory.md together: those of `gpus` whose name begins with `name`; medians and p90 from the least to the most."""
    page = Text("results/memory.md")
    rows = [row for gpu in gpus for row in page.rows([heading, gpu], "rows")
            if re.match(r"\*\*" + re.escape(name), row["table"]) and "maximum" in row]
    counts = [int(row["rows"]) for row in rows]
    values = {key: [float(row[key].split(" ")[0]) for row in rows] for key in ("mean", "median", "p90", "maximum")}
    mean = sum(c * m for c, m in zip(counts, values["mean"])) / sum(counts)

    def span(key):
        least, most = min(values[key]), max(values[key])
        return f"{most:.1f} %" if least == most else f"{least:.1f} to {most:.1f} %"
    return [sum(counts), f"{mean:.1f} %", span("median"), span("p90"), f"{max(values['maximum']):.1f} %"]


def uvm():
    page, heading = Text("results/managed-programs.md"), "All that is published, policy by policy"
    cells = [cell for row in page.rows([heading], "policies") for key, cell in row.items() if key != "policies"]
    return of_errors([e for e in map(percent, cells) if e is not None])


def sst_errors():
    """Errors with the launch floor; the table has two columns "error", of which the last one is that."""
    lines = [line for line in Text("results/kernels.md").section("Runs that SST-GPU published") if re.search(r"\| kept \|", line)]
    return of_errors([percent(line.strip("| ").split(" | ")[-1]) for line in lines])


GPUS = ("v100", "a100", "h100_pcie")
KERNELS, LINKS, MEMORY = "results/kernels.md", "results/links.md", "results/memory.md"

# Set, GPU, cells, what published simulators have on the same rows (or what finds it), page, section of tools/results.py.
ACCURACY = [
    ("kernels of Polybench, ten programs by size", "H100 PCIe", lambda: sentence(KERNELS, "Polybench on an H100 PCIe", "All:"), "none",
     KERNELS, "polybench"),
    ("of these, rows kept as a check", "H100 PCIe", lambda: sentence(KERNELS, "Polybench on an H100 PCIe", "Rows kept as a check"), "none",
     KERNELS, "polybench"),
    ("kernels of Rodinia 3.1, busy cycles", "QV100, V100 SXM2", lambda: sentence(KERNELS, "Rodinia 3.1 on a V100", "All, busy cycles."), "none",
     KERNELS, "rodinia"),
    ("of these, elapsed cycles with the launch", "QV100, V100 SXM2", lambda: sentence(KERNELS, "Rodinia 3.1 on a V100", "With the floor."), "none",
     KERNELS, "rodinia"),
    ("vectorAdd, lud, LULESH, with the launch", "V100", sst_errors, "SST-GPU: 9.1, 22.5 and 4.5 %", KERNELS, "sst_runs"),
    ("SGEMM, six kernels of a ladder", "RTX A6000", lambda: column(KERNELS, ["SGEMM, step by step, on an RTX A6000"], "error"), "none", KERNELS,
     "sgemm_ladder"),
    ("GEMM on tensor cores, six kernels of a ladder", "H100 SXM", lambda: column(KERNELS, ["GEMM, step by step, on an H100"], "error"), "none", KERNELS,
     "h100_gemm"),
    ("CUTLASS's examples for Hopper", "H200 SXM, H100", lambda: column(KERNELS, ["CUTLASS's Hopper examples on an H100"], "error"), "none", KERNELS,
     "cutlass_hopper"),
    ("FlashAttention-3, forward, two head dimensions", "H100 SXM", lambda: column(KERNELS, ["FlashAttention-3 on an H100"], "error"),
     lambda: "FlashGPU-Sim: " + column(KERNELS, ["FlashAttention-3 on an H100"], "FlashGPU-Sim")[1], KERNELS, "fa3"),
    ("chains of dependent FFMA", "H100 PCIe", lambda: sentence(KERNELS, "Dependent FFMA on an H100 PCIe", "Slope"),
     "Accel-Sim (h100-test): 46 and 61 %", KERNELS, "ffma"),
    ("pointer chase", "V100, A100, H100 PCIe", lambda: tables("Pointer chase", "Pointer chase, te42kyfo", GPUS), "none", MEMORY, "chase"),
    ("bandwidth of L1 and L2 by footprint", "V100, A100, H100 PCIe", lambda: tables("Bandwidth by level", "Bandwidth", GPUS), "none", MEMORY,
     "bandwidth"),
    ("STREAM, six kernels by occupancy", "V100, A100, H100 PCIe", lambda: tables("STREAM by occupancy", "STREAM", GPUS), "none", MEMORY, "stream"),
    ("sweeps over memory, 1 to 128 MiB", "A100 SXM, GH200", lambda: column(MEMORY, ["Sweeps over memory by size"], "error"), "none", MEMORY, "sweeps"),
    ("managed memory: times of UVMSmart's programs", "its GTX 1080 Ti", uvm, "UVMSmart is the reference", "results/managed-programs.md", "uvm_public"),
    ("managed memory: driver's batches, check", "T4, parameters of v100", lambda: sentence("results/managed.md", "Cost of the driver's batches", "Kept as a check:"), "none",
     "results/managed.md", "uvm"),
    ("links: copies, stores, loads", "V100, A100, H100, GH200", lambda: column(LINKS, ["Links between GPUs"], "error", lambda row: "what" in row), "none",
     LINKS, "links"),
    ("NCCL's all-reduce by our kernels, 8 B to 1 GiB", "A100, 4 and 8", lambda: column(LINKS, ["Links between GPUs"], "error", lambda row: "words us" in row),
     "none", LINKS, "links"),
    ("NCCL 2.27.7 itself, 8 B to 1 MiB", "A100, 2 to 8", lambda: column(LINKS, ["Links between GPUs"], "error", lambda row: "algorithm" in row), "none",
     LINKS, "links"),
    ("power of a kernel", "QV100", lambda: column("studies/energy.md", ["Beside the measurements"], "error %"), "AccelWattch SASS_SIM: 11.0 %",
     "studies/energy.md", None),
]


def accuracy():
    lines = ["| set | GPU | rows | mean | median | p90 | max | published simulators | page, section |", "|---|---|---|---|---|---|---|---|---|"]
    for name, gpu, cells, others, page, section in ACCURACY:
        where = f"[{os.path.basename(page)}]({page})" + (f", `{section}`" if section else "")
        published = others() if callable(others) else others
        lines.append("| " + " | ".join(map(str, [name, gpu, *cells(), published, where])) + " |")
    return lines


def speed():
    page = Text("results/speed.md")
    two = {row["trace"]: row["2 threads, kernels alone"].split(" ")[0] for row in page.rows(["Speed"], "2 threads, kernels alone")}
    sixteen = {row["trace"]: row["projected"] for row in page.rows(["Speed on more threads"], "projected")
               if row["threads"] == "16" and row["schedule"] == "dynamic"}
    lines = ["| trace | GPU | warp inst/s | cycles/s | times Accel-Sim's rate | 2 threads, kernels alone | 16 threads, projected | memory |",
             "|---|---|---|---|---|---|---|---|"]
    for row in page.rows(["Speed"], "Accel-Sim's rate"):
        lines.append("| " + " | ".join([row["trace"], row["GPU"], row["warp instructions/s"], row["cycles/s"], row["Accel-Sim's rate"] or "-",
                                        two[row["trace"]] + "x", sixteen.get(row["trace"], "-"), row["memory"]]) + " |")
    return lines


def programs():
    lines = ["| program | `exec`, s | `run` of its recording, s | speed of `exec` over that of `run` |", "|---|---|---|---|"]
    for row in Text("results/speed.md").rows(["Speed of programs beside their recordings"], "exec, s"):
        lines.append("| " + " | ".join(row.values()) + " |")
    return lines


PAGES = {"accuracy.md": {"accuracy": accuracy}, "speed.md": {"speed": speed, "programs": programs}}


def renewed(text, made):
    """`text` with each marked table as `made` (name to function) has it."""
    for name, make in made.items():
        pattern = rf"(<!-- table {name} -->\n).*?(<!-- end -->)"
        if not re.search(pattern, text, re.S):
            raise command_line.Failure(f"found no '<!-- table {name} -->' with an '<!-- end -->' behind it")
        text = re.sub(pattern, lambda m: m.group(1) + "\n" + "\n".join(make()) + "\n\n" + m.group(2), text, flags=re.S)
    return text


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("--out", metavar="FOLDER", type=command_line.folder, default=DOCS, help="default docs")
    arguments = parser.parse_args()
    for name, made in PAGES.items():
        with open(os.path.join(DOCS, name)) as f:
            text = f.read()
        with open(os.path.join(arguments.out, name), "w") as f:
            f.write(renewed(text, made))


if __name__ == "__main__":
    command_line.run(main)
