import importlib
import os

TITLE = "Microbenchmarks of the SM"
PRODUCTS = ["v100", "a100", "h100_pcie"]


def write(context, page):
    """As tools/microbench_sm.py LOCKSTEP PRODUCT --measured DATA/hw prints them."""
    microbench = importlib.import_module("microbench_sm")
    page.text("Each figure is the slope between two sizes of a kernel of our generator. Published figures, with their",
              "sources: `tests/micro/published.tsv`. `tools/microbench_sm.py LOCKSTEP GPU` prints these tables for any",
              "configuration.")
    for product in PRODUCTS:
        microbench.write(page, context.program, product, os.path.dirname(context.measurements("x")))
