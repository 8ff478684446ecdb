from . import memory_tables

TITLE = "STREAM by occupancy"


def write(context, page):
    page.text("Kernels in double precision with two CTAs per SM, by their size, like gpu-stream of",
              "te42kyfo/gpu-benches, beside the public measurements: every row.", memory_tables.HALVES,
              "The rows themselves: `tools/microbench.py LOCKSTEP v100 --measured DATA/hw --group stream --rows`.")
    memory_tables.write_group(context, page, "stream", 1)
