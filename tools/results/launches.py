"""Section: what launches and copies cost a program. Needs tests/cuda_launches beside the program."""
import csv
import json
import os
import subprocess

from .common import percent
from .split import is_check

TITLE = "Launches"
PTX = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "cuda", "program", "timing.ptx")
COPY_START = "27 us"  # of the V100's copies, from the rows to derive from
SIZES_KB = (1, 8, 64, 128, 256, 512, 1024, 4096, 16384)


def times(context, gpu, *arguments, settings=()):
    """Microseconds, as the program prints them in ps."""
    program = os.path.join(os.path.dirname(context.program), "tests", "cuda_launches")
    options = [word for setting in settings for word in ("--set", setting)]
    command = [context.program, "exec", "-q", "-c", gpu, *options, "--", program, PTX, *map(str, arguments)]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [int(line) / 1e6 for line in text.split()]


def write_launches(context, page):
    with open(os.path.join(context.data, "hw", "a100_sxm_device.json")) as f:
        measured = json.load(f)["launch"]
    pipelined, round_trip = times(context, "a100", "calls")
    node, one, two = times(context, "a100", "graphs")
    rows = []
    for what, ours, key in (("a launch, of many in a stream", pipelined, "pipelined_period_us"),
                            ("a graph's further node", two - one, "graph_period_us"),
                            ("launch and synchronise", round_trip, "roundtrip_us")):
        rows.append([what, f"{ours:.3f}", f"{measured[key]:.3f}", percent(ours / measured[key] - 1)])
    page.text("Empty kernels on an A100 SXM4 (openfabric-systems/simllm @9c2672cd, a100_sxm_device.json) and on `a100`, us. One of",
              "`launch.call_ns`, `launch.graph_node_ns` and `launch.wait_ns` was derived from each row, so no row is a check. Other GPUs are",
              "assumed to have the same values.")
    page.table(["what", "simulated", "measured", "error"], rows)
    page.text(f"In graphs of 200 nodes launched in a row, a node takes {node:.3f} us, the graphs' own launches included. If the host's calls take",
              f"no time, the device needs {times(context, 'a100', 'calls', settings=('launch.call_ns=0',))[0]:.3f} us for each kernel of a stream; so the measured 1.8 us are attributed to the host's calls.")


def write_copies(context, page):
    with open(os.path.join(context.data, "hw", "v100_pcie_memcpy_um.csv")) as f:
        lines = [line for line in f if not line.startswith("#")]
    measured = {int(r["size_kB"]): float(r["GBps"]) for r in csv.DictReader(lines) if r["kind"] == "h2d_memcpy"}
    rows = []
    for kilobytes in SIZES_KB:
        size = kilobytes * 1024
        there = size / measured[kilobytes] / 1e3
        ours, plain = (times(context, "v100", "copies", size, settings=settings)[0]
                       for settings in ((f"host.copy_start_ns={COPY_START}",), ()))
        rows.append([f"{kilobytes:,}", f"{plain:.1f}", f"{ours:.1f}", f"{there:.1f}", percent(ours / there - 1),
                     "check" if is_check(f"V100-PCIE+h2d_memcpy+{kilobytes}") else "derive"])
    page.text("`cudaMemcpy` to a V100 over PCIe (te42kyfo/gpu-benches @1c36d509, v100_pcie_memcpy_um.csv; us from its rates, which have two",
              f"digits for small sizes), one copy after another. `host.copy_start_ns` is 0 by default; {COPY_START} is what the calibration rows take",
              "beyond the time of their bytes and the time that a simulated copy takes in any case.")
    page.table(["KiB", "simulated us", f"with `host.copy_start_ns={COPY_START}`", "measured us", "error", "row"], rows)


def write(context, page):
    write_launches(context, page)
    write_copies(context, page)
