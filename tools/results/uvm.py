import os
import shutil
import subprocess
import sys

TITLE = "Managed memory"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXPERIMENTS = os.path.join(ROOT, "tools", "experiments", "uvm")
PICTURES = os.path.join(ROOT, "docs", "uvm")
# Script, heading, and the benchmarks of the page: all of an experiment's take hours on a small machine (--only of the script).
SCRIPTS = [
    ("prefetchers", "Prefetchers, memory for all", "stream,triad,ra,backprop,bfs,hotspot,nw"),
    ("eviction", "Evictors", "nw"),
    ("combinations", "Prefetcher with evictor", "nw"),
    ("lru_2m", "Neighbourhood eviction and LRU of 2 MB", "nw"),
    ("scalability", "More over-subscription", "nw"),
    ("reservation", "Reserved share", "nw"),
]


def write(context, page):
    """Runs the experiments on the programs that examples/uvm/make.sh builds; traces and results of runs are kept."""
    page.text("Programs of `examples/uvm`, with the access patterns and footprints of the published ones but not their code, on",
              "UVMSmart's GTX 1080 Ti (`configs/uvmsmart.ini`) unless said otherwise; published: ISCA 2019 and its logs. Memory",
              "is given as a share of the footprint. One script of `tools/experiments/uvm` for each table and plot; the page has",
              "the benchmarks that a small machine runs in minutes. Times are within 15 % of the published",
              "ones but for nw under over-subscription with tbn: evictor alone -19 %, evictor and prefetcher about half; not explained.")
    os.makedirs(PICTURES, exist_ok=True)
    programs, work = os.path.join(ROOT, "build", "uvm-programs"), os.path.join(ROOT, "build", "experiments", "uvm")
    subprocess.run([os.path.join(ROOT, "examples", "uvm", "make.sh"), programs], check=True)
    out = os.path.join(work, "out")
    for name, heading, benchmarks in SCRIPTS:
        subprocess.run([sys.executable, os.path.join(EXPERIMENTS, name + ".py"), context.program, "--binaries", programs,
                        "--work", work, "--out", out, "--only", benchmarks], check=True)
        with open(os.path.join(out, name + ".md")) as f:
            page.text(f"### {heading}", "", f.read().strip())
        picture = os.path.join(out, name + ".svg")
        if os.path.exists(picture):
            shutil.copy(picture, PICTURES)
            page.text(f"![{heading}](uvm/{name}.svg)")
