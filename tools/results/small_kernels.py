import os
import tempfile

from .common import percent

TITLE = "Small kernels"
# vectorAdd of the CUDA samples with 163,840 elements on a V100, nvprof (SST-GPU report, table of correlations).
ELEMENTS, MEASURED = 163840, 5271


def write(context, page):
    page.text(f"vectorAdd of the CUDA samples, {ELEMENTS:,} elements: {MEASURED:,} cycles on a V100 under nvprof (published by",
              "SST-GPU), including the launch. The simulated cycles are those of the kernel and of its launch (`launch_cycles`), once with the",
              "inputs in the L2 after their copy and once with a cold L2.")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        trace = context.synth(os.path.join(folder, "t"), "streaming", "--ctas", str(ELEMENTS // 256))
        for name, warm in (("copies warm the L2", "true"), ("cold L2", "false")):
            kernel = context.run(trace, "sst_v100", "--set", f"host.warms_l2={warm}").stats["kernels"][0]
            ours = kernel["cycles"] + kernel["launch_cycles"]
            rows.append([name, f"{kernel['cycles']:,}", f"{kernel['launch_cycles']:,}", f"{ours:,}",
                         percent(ours / MEASURED - 1)])
    page.table(["`sst_v100`", "kernel", "launch", "together", "error"], rows)
    page.text("Both contain the time in which an SM's first access to a block of 2 MB waits for its translation (`tlb.miss_latency`). Counters",
              "of a V100 show that a profiler runs each kernel with a cold L2 (v100_kernels.csv: `compress` and `extract` of srad read what the",
              "kernel or copy before them wrote, and all of the 28,740 sectors that they read miss): compare figures from a profiler with runs",
              "with `--set host.warms_l2=false`.")
