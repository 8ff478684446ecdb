"""Calls of bench/, for the sections about the speed of the simulator itself."""
import os
import subprocess

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
# The kernels on which Accel-Sim was measured, and where real traces have their place in DATA.
MEASURED = ["streaming", "sgemm", "random", "chain", "bfs-a100", "vectoradd-a100"]


def bench(context, name, *arguments, keeps=True):
    """What bench/NAME prints. Its traces are kept in the context's folder, when that has one and the benchmark keeps any."""
    keep = ["--work", context.work] if context.work and keeps else []
    command = [os.path.join(BENCH, name), context.program, *arguments, *keep]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def real(context):
    return ["--real", os.path.join(context.data, "traces")]
