import os
import statistics
import tempfile

TITLE = "Speed"
# Accel-Sim of 2024-10-08 (SM7_QV100, release build) on a machine of the same kind: CPU seconds, warp instructions a
# second, cycles without its 5000 launch cycles a kernel.
ACCELSIM = {
    "streaming": (22.4, 14.10e3, 13828 - 5000), "sgemm": (98.6, 46.98e3, 48566 - 5000),
    "random": (202.9, 0.52e3, 72534 - 5000), "chain": (28.5, 1.51e3, 203458 - 5000),
    "bfs-a100": (18.6, 8.54e3, 122404 - 16 * 5000), "vectoradd-a100": (2.5, 10.73e3, 6204 - 5000),
}
# The generator's options for the kernels on which Accel-Sim was measured.
GENERATED = {
    "streaming": ["streaming", "--ctas", "2560"],
    "sgemm": ["sgemm", "--tiles-x", "32", "--tiles-y", "20", "--ktiles", "3"],
    "random": ["random", "--ctas", "1280", "--loads", "3"],
    "chain": ["chain", "--ctas", "2", "--iterations", "200"],
}


def measure(context, folder, name):
    """One row of the table."""
    cpu, accelsim_rate, cycles = ACCELSIM[name]
    if name in GENERATED:
        path, gpu = context.synth(os.path.join(folder, name), *GENERATED[name]), "v100"
    else:
        path, gpu = context.trace(name), "a100"
    one = [context.run(path, gpu, "--threads", "1") for _ in range(3)]
    two = [context.run(path, gpu, "--threads", "2") for _ in range(3)]
    ours = statistics.median(r.host["cpu_seconds"] for r in one)
    scaling = statistics.median(a.host["wall_seconds"] / b.host["wall_seconds"] for a, b in zip(one, two))
    total = one[0].stats["total"]
    rate = total["warp_instructions"] / ours
    memory = max(r.host["peak_rss_bytes"] for r in one)
    return [name, f"{total['warp_instructions']:,}", f"{cycles:,}", f"{total['cycles']:,}", f"{cpu:.1f}", f"{ours:.2f}",
            f"{rate / 1e3:,.0f} k", f"{rate / accelsim_rate:.0f} x", f"{scaling:.2f} x", f"{memory / 2**20:.0f} MiB"]


def write(context, page):
    page.text("Kernels on which Accel-Sim was measured, from text, on the V100 (bfs and vectorAdd: the A100); median of",
              "three runs. CPU seconds include decoding. Accel-Sim: SM7_QV100, on a machine of the same kind, another day.",
              f"Host: {os.cpu_count()} cores. These figures differ from host to host; `cycles` do not.")
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(context, folder, name) for name in ACCELSIM]
    page.table(["kernel", "warp instructions", "cycles, Accel-Sim (V100)", "cycles", "CPU s, Accel-Sim", "CPU s",
                "warp instructions/s", "against Accel-Sim", "two threads", "peak memory"], rows)
