"""Section: UVMSmart's own managed benchmarks (public_programs.sh puts them into FOLDER/uvmsmart of --programs)."""
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
    ("sensitivity", "sensitivity", "Its nw near 110 %"),
    ("lru_2m", "lru_2m", "Its neighbourhood eviction and LRU of 2 MB"),
    ("scalability", "scalability", "Its programs with more over-subscription"),
]


def write(context, page):
    page.text("The managed benchmarks of DebashisGanguly/gpgpu-sim_UVMSmart as nvcc of CUDA 13 compiles them, with the published sizes, on",
              "the machine that its configuration of a GTX 1080 Ti describes (`configs/uvmsmart_gtx1080ti.ini`); published: ISCA 2019 and",
              "its logs; of nw, pathfinder and srad only plots, read to some 3 %. hotspot's and bfs's input files are generated:",
              "hotspot's values do not matter for time, bfs's graph is of the same generator and size but not the same graph. nw",
              "over-subscribed hangs on which CTAs fault in the same cycle, as its blocks touch every tree at once: CTAs that start one",
              "after another instead of one on each SM at once make tbn 8 to 36 % faster, and L2 latencies of 120 to 126 cycles",
              "alone give tbn + tbn at 110 % 15.4 to 18.7 ms. Not in the model: UVMSmart does not evict a unit while an access to one of",
              "its pages is in flight. With that rule the mean of such runs changes by some 5 % or less (tbn, 110 to 150 %).")
    for script, name, heading in SCRIPTS:
        run(context, page, script, heading, "--public", os.path.join(context.programs.folder, "uvmsmart"), made="public_" + name)
