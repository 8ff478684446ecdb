from . import memory_tables

TITLE = "Bandwidth by level"
EVERY = 8


def write(context, page):
    page.text("All SMs read an array repeatedly (gpu-cache), or pieces of one (gpu-l2-cache), as the kernels of",
              f"te42kyfo/gpu-benches do, beside the public measurements: every {EVERY}th row.", memory_tables.HALVES,
              "All rows: `tools/microbench.py LOCKSTEP v100 --measured DATA/hw --group bandwidth --rows`.",
              "The A100's first row of gpu-l2-cache (1.5 MB, 4,316 GB/s; 2 MB: 5,482) is counted but is no property of the L2:",
              "the 11 runs of the 2 MB row differ by 22.8 % (those of the neighbouring rows by 0.0 %; gpu-l2-cache/a100_80.txt), from the",
              "bandwidth of the first row to that of the others, so the clock rose during them. The H100's table has no such row.",
              "Beyond half of the L2, gpu-cache on the A100 is 6 to 9 % too fast, within that half 13 %: it has 0.57 of the bandwidth",
              "within, measured 0.53 to 0.62. At most four requests (A100) or sixteen (H100) wait for a line from the other half",
              "(`l2.far_merges`), any number for one of the same half. Where only a part of gpu-l2-cache's array stays in the L2, which part it",
              "is depends on the CTAs that overtake others, and so on the order of all warps: at 36 MiB on the A100 (measured 3,004 GB/s) another",
              "interval of the branch unit, or a unit for each sub-core, makes 3,623 GB/s 3,734 or 3,778. Such rows move by some 4 % with any change of the model.")
    memory_tables.write_group(context, page, "bandwidth", EVERY)
