import importlib
import os
import subprocess
import sys
import tempfile

TITLE = "Beside Accel-Sim"
CASES = {"vectoradd-2560": "streaming", "sgemm-640": "sgemm", "random-1280": "random", "tiny-2": "chain"}
TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accelsim_compare.py")


def write(context, page):
    sys.path.insert(0, os.path.join(os.path.dirname(TOOL), "..", "bench"))
    page.text("Cycles, cache and DRAM counts on `qv100` beside Accel-Sim's (SM7_QV100), in sectors of 32 bytes; differences of",
              "more than 20 % are explained in [accelsim-differences.md](../accelsim-differences.md). Accel-Sim does not model address",
              "translation, so it takes no time here either (`--set tlb.miss_latency=0`).")
    with tempfile.TemporaryDirectory() as peers:
        for name, kind in CASES.items():  # in the size in which it was measured
            context.synth(os.path.join(peers, name), *importlib.import_module("benchlib.cases").GENERATED[kind])
        command = [sys.executable, TOOL, context.program, peers, os.path.join(context.data, "traces")]
        page.text(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
