"""Section: UVMSmart's own managed benchmarks (in FOLDER/uvmsmart of --programs, with what tools/experiments/uvm/public_inputs.py makes)."""
import os

from .uvm import run

TITLE = "Managed memory, UVMSmart's programs"
NEEDS_PROGRAMS = True
SCRIPTS = [
    ("public_programs", "programs", "All that is published, policy by policy"),
    ("prefetchers", "prefetchers", "Its prefetchers, memory for all"),
    ("oversubscription", "oversubscription", "Its over-subscription without a prefetcher"),
    ("eviction", "eviction", "Its evictors"),
    ("combinations", "combinations", "Its prefetchers with evictors"),
    ("draws", "draws", "The nine runs of nw and bfs"),
    ("starts", "starts", "What nw hangs on"),
    ("lru_2m", "lru_2m", "Its neighbourhood eviction and LRU of 2 MB"),
    ("scalability", "scalability", "Its programs with more over-subscription"),
    ("reservation", "reservation", "Its programs with a reserved share"),
    ("substitutes", "substitutes", "Where programs of `examples/uvm` differ"),
]


def write(context, page):
    page.text("The managed benchmarks of DebashisGanguly/gpgpu-sim_UVMSmart as nvcc of CUDA 13 compiles them, with the published sizes, on",
              "the machine that its configuration of a GTX 1080 Ti describes (`configs/uvmsmart_gtx1080ti.ini`); published: ISCA 2019 and",
              "its logs; of nw, pathfinder and srad only plots, read to some 3 %. hotspot's and bfs's input files are generated. hotspot's",
              "values do not matter for time; bfs's graph is of the same generator and size but not the same graph. nw over-subscribed is",
              "chaotic: its blocks touch every tree at once, and which CTAs fault in the same cycle decides what comes and what leaves, so",
              "that a change of the machine far below what is known of it changes the time. One run of these two is a draw. Each of their",
              "times is the median of nine runs, which differ in the L2's latency alone (nw: 116 to 124 cycles, UVMSmart's is 120) or in the",
              "graph alone (bfs: seeds 0 to 8 of the generator); counters are those of the median run, ratios those of medians. Not in the",
              "model: UVMSmart does not evict a unit while an access to one of its pages is in flight; tried on nw, that rule changes means",
              "of three such runs by about 5 % or less (`none` + `tbn` at 110 %, `tbn` + `tbn` at 110 to 150 %).")
    for script, name, heading in SCRIPTS:
        run(context, page, script, heading, "--public", os.path.join(context.programs.folder, "uvmsmart"), made="public_" + name)
