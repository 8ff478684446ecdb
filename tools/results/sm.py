import importlib
import os

TITLE = "Microbenchmarks of the SM"
GPU_MODELS = ["v100", "a100", "h100_pcie"]


def write(context, page):
    """As tools/microbench_sm.py LOCKSTEP PRODUCT --measured DATA/hw prints them."""
    microbench = importlib.import_module("microbench_sm")
    page.text("Each figure is the slope between two sizes of a generated kernel. `tests/micro/published.tsv` has the published figures and",
              "their sources. `tools/microbench_sm.py LOCKSTEP GPU` prints these tables for any",
              "configuration.")
    for gpu in GPU_MODELS:
        microbench.write(page, context.program, gpu, os.path.dirname(context.measurements("x")))
