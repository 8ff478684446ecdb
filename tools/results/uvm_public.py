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
    ("starts", "starts", "What the time of nw depends on"),
    ("lru_2m", "lru_2m", "Its neighbourhood eviction and LRU of 2 MB"),
    ("scalability", "scalability", "Its programs with more over-subscription"),
    ("reservation", "reservation", "Its programs with a reserved share"),
    ("substitutes", "substitutes", "Where programs of `examples/uvm` differ"),
]


def write(context, page):
    page.text("The managed benchmarks of DebashisGanguly/gpgpu-sim_UVMSmart, compiled by nvcc of CUDA 13, with the published sizes, on",
              "the machine that its configuration of a GTX 1080 Ti describes (`configs/uvmsmart_gtx1080ti.ini`). Published times are from ISCA 2019",
              "and UVMSmart's logs; for nw, pathfinder and srad there are only plots, which can be read to some 3 %. The input files of hotspot and",
              "bfs are generated: hotspot's values do not affect the time, and bfs's graph has the same generator and size but is a different graph.",
              "",
              "Over-subscribed nw is chaotic: its blocks touch every tree at once, and which CTAs fault in the same cycle decides which pages are",
              "migrated and evicted. So a change of the machine that is far smaller than the uncertainty about it changes the time, and a single run",
              "of nw, or of bfs with another graph, is a random sample. Each of their times is therefore the median of nine runs that differ only in",
              "the L2's latency (nw: 116 to 124 cycles; UVMSmart's is 120) or only in the graph (bfs: seeds 0 to 8 of the generator); counters are",
              "those of the median run, ratios those of medians. One rule is not modelled: UVMSmart does not evict a unit while an access to one",
              "of its pages is in flight. On nw, that rule changed means of three such runs by about 5 % or less (`none` + `tbn` at 110 %,",
              "`tbn` + `tbn` at 110 to 150 %).")
    for script, name, heading in SCRIPTS:
        run(context, page, script, heading, "--public", os.path.join(context.programs.folder, "uvmsmart"), made="public_" + name)
