from . import memory_tables

TITLE = "STREAM by occupancy"


def write(context, page):
    page.text("Kernels in double precision with two CTAs per SM, by their size, like gpu-stream of",
              "te42kyfo/gpu-benches, beside the public measurements: every row.", memory_tables.HALVES,
              "The rows themselves: `tools/microbench.py LOCKSTEP v100 --measured DATA/hw --group stream --rows`.")
    page.text("With `l2.dirty_ways` = 128 and `icnt.slice_in_bytes` = 64, the A100's and H100's init were at 4.9 and 1.6 %: the sweeps below, from which both values",
              "are, say more of how the L2 takes writes than these rows do, whose time is that of the DRAM. A write of 96 MiB takes the H100 0.7 % longer with them.")
    memory_tables.write_group(context, page, "stream", 1)
