import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

TITLE = "Memory microbenchmarks"
PRODUCTS = ["v100", "a100", "h100_pcie"]
EVERY = 8


def write(context, page):
    import microbench
    import microbench_memory

    page.text("Traces of our generator in the shape of te42kyfo/gpu-benches beside the public measurements (te42kyfo and",
              f"RRZE-HPC): every {EVERY}th row of each table. Half of the rows, drawn by a hash of their names, may be used",
              "to derive parameters, the other half checks ([add a GPU](add-a-gpu.md)). All rows of one GPU:",
              "`tools/microbench.py build/release/lockstep v100 --measured DATA/hw --rows`.")
    for product in PRODUCTS:
        page.text(f"### {product}")
        tables = microbench_memory.tables(context.program, product, os.path.join(context.data, "hw"), every=EVERY,
                                          jobs=len(os.sched_getaffinity(0)))
        microbench.write_tables(page, tables)
