"""What the sections of the memory microbenchmarks share: their GPU models, and a sample of each table's rows."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

GPU_MODELS = ["v100", "a100", "h100_pcie"]
HALVES = ("Half of the rows, chosen by a hash of their names, may be used to derive parameters; the other half is the check\n"
          "([add a GPU](../add-a-gpu.md)).")


def tables(context, gpu, group, every):
    import microbench_memory

    return microbench_memory.tables(context.program, gpu, os.path.join(context.data, "hw"), every=every,
                                    jobs=int(os.environ.get("LOCKSTEP_JOBS", len(os.sched_getaffinity(0)))),
                                    groups=[group])


def write_group(context, page, group, every):
    """Errors of every n-th row of each GPU's tables."""
    import microbench

    for gpu in GPU_MODELS:
        page.text(f"### {gpu}")
        microbench.write_tables(page, tables(context, gpu, group, every))
