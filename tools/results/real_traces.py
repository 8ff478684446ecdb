import sys

from .common import SOURCE, hit_rate

TITLE = "Real traces"
TRACES = [("vectoradd-a100", "a100"), ("bfs-a100", "a100"), ("ffma-h100-40", "h100_pcie")]
# Ways to run that must give the same bytes.
WAYS = [["--threads", "2"], ["--threads", "3", "--window", "1", "--shuffle", "5"],
        ["--threads", "2", "--schedule", "static", "--no-skip"]]
NO_REASON = ("issued", "empty", "idle")


def write(context, page):
    page.text(f"From {SOURCE}:",
              "`bfs-a100` is Rodinia's bfs on 4096 nodes, `vectoradd-a100` the CUDA sample with 50,000 elements (both NVBit",
              "traces of an A100), `ffma-h100-*` one warp of dependent FFMA on an H100 PCIe. `cycles` are core cycles from",
              "the first CTA's dispatch to the last one's completion.")
    rows = []
    for name, gpu in TRACES:
        stats, _, raw = context.run(context.trace(name), gpu, "--threads", "1")
        for way in WAYS:
            if context.run(context.trace(name), gpu, *way).raw != raw:
                sys.exit(f"{name}: stats.json differs with {' '.join(way)}")
        t = stats["total"]
        _, first_reason = max((v, k) for k, v in t["stalls"].items() if k not in NO_REASON)
        rows.append([f"`{name}`", gpu, len(stats["kernels"]), f"{t['warp_instructions']:,}", f"{t['cycles']:,}",
                     f"{t['ipc']:.3f}", hit_rate(t["l1"]), hit_rate(t["l2"]), f"{t['dram']['bytes']:,}", first_reason])
    page.table(["trace", "GPU", "kernels", "warp instructions", "cycles", "IPC", "L1 hits", "L2 hits", "DRAM bytes",
                "first stall reason"], rows)
    page.text("Each was run again with two and three threads, static schedule, a window of one cycle, shuffled order and",
              "without skipping: the bytes of `stats.json` were the same.")
