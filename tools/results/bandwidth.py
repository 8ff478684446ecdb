from . import memory_tables

TITLE = "Bandwidth by level"
EVERY = 8


def write(context, page):
    page.text("All SMs read an array again and again (gpu-cache), or pieces of one (gpu-l2-cache), in the shape of",
              f"te42kyfo/gpu-benches, beside the public measurements: every {EVERY}th row.", memory_tables.HALVES,
              "All rows: `tools/microbench.py LOCKSTEP v100 --measured DATA/hw --group bandwidth --rows`.")
    memory_tables.write_group(context, page, "bandwidth", EVERY)
