import os
import shutil
import subprocess
import sys

TITLE = "Managed memory"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXPERIMENTS = os.path.join(ROOT, "tools", "experiments", "uvm")
PICTURES = os.path.join(ROOT, "docs", "uvm")
WORK = os.path.join(ROOT, "build", "experiments", "uvm")
OVER_SUBSCRIBED = "backprop,bfs,hotspot,nw,pathfinder"
# Script, heading, and the benchmarks of the page: all of an experiment's take hours on a small machine (--only of the script).
SCRIPTS = [
    ("prefetchers", "Prefetchers, memory for all", "stream,triad,ra,backprop,bfs,hotspot,nw"),
    ("oversubscription", "Over-subscription without a prefetcher", OVER_SUBSCRIBED),
    ("eviction", "Evictors", OVER_SUBSCRIBED),
    ("combinations", "Prefetcher with evictor", OVER_SUBSCRIBED),
    ("sensitivity", "One point of a jagged curve", None),
    ("lru_2m", "Neighbourhood eviction and LRU of 2 MB", OVER_SUBSCRIBED),
    ("scalability", "More over-subscription", OVER_SUBSCRIBED),
    ("reservation", "Reserved share", "backprop,bfs,hotspot,nw"),
    ("access_pattern", "Pages over time", "nw"),
    ("v100_prefetchers", "Prefetchers on the V100 of the GPGPU-Sim 4 study", "bfs,hotspot,pathfinder,backprop,srad"),
    ("shootdown", "TLB shootdown", "bfs,hotspot,pathfinder,backprop"),
    ("remote_access", "Remote access and delayed migration", "bfs"),
    ("driver_batches", "The driver's batches", "triad"),
    ("batch_cost", "Cost of the driver's batches", None),
    ("host_link", "The host link", None),
    ("waiting", "What waiting costs", None),
]


def run(context, page, name, heading, *options):
    """Runs an experiment and puts its table and its plot on the page. Traces and results of runs are kept."""
    os.makedirs(PICTURES, exist_ok=True)
    out = os.path.join(WORK, "out")
    subprocess.run([sys.executable, os.path.join(EXPERIMENTS, name + ".py"), context.program, "--work", WORK, "--out", out,
                    "--binaries", os.path.join(ROOT, "build", "uvm-programs"), *options], check=True)
    with open(os.path.join(out, name + ".md")) as f:
        page.text(f"### {heading}", "", f.read().strip())
    picture = os.path.join(out, name + ".svg")
    if os.path.exists(picture):
        shutil.copy(picture, PICTURES)
        page.text(f"![{heading}](uvm/{name}.svg)")


def write(context, page):
    """Runs the experiments on the programs that examples/uvm/make.sh builds."""
    page.text("Programs of `examples/uvm`, with the access patterns and footprints of the published ones but not their code, recorded",
              "in the order of their PTX, which UVMSmart simulates (`record --without schedule`), on UVMSmart's GTX 1080 Ti",
              "(`configs/uvmsmart.ini`) unless said otherwise; published: ISCA 2019 and its logs. Memory is given as a share of",
              "the footprint. One script of `tools/experiments/uvm` for each table and plot. In the order in which a compiler for",
              "the hardware puts its loads nw thrashes less: 94,922 us with lru_4k and no prefetcher at 110 %, not 296,234.",
              "Not among the over-subscribed ones: fdtd (no program of ours) and srad (ours manages 24 MB and thrashes, 2,040,075 us with",
              "lru_4k at 110 %; the published 192,000 us without a prefetcher are 16 MB). For the same reason srad is not among the shootdowns.")
    subprocess.run([os.path.join(ROOT, "examples", "uvm", "make.sh"), os.path.join(ROOT, "build", "uvm-programs")], check=True)
    for name, heading, benchmarks in SCRIPTS:
        run(context, page, name, heading, "--measured", os.path.dirname(context.measurements("x")),
            *(["--only", benchmarks] if benchmarks else []))
