import os
import shutil
import subprocess
import sys

TITLE = "Managed memory"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXPERIMENTS = os.path.join(ROOT, "tools", "experiments", "uvm")
PICTURES = os.path.join(ROOT, "docs", "uvm")
WORK = os.path.join(ROOT, "build", "experiments", "uvm")
OVER_SUBSCRIBED = "backprop,bfs,fdtd,hotspot,nw,pathfinder,srad"
SOME = "backprop,bfs,hotspot,nw,pathfinder"
# Script, heading, and the benchmarks of the page: all of an experiment's take hours on a small machine (--only of the script).
SCRIPTS = [
    ("prefetchers", "Prefetchers, memory for all", "stream,triad,ra,backprop,bfs,fdtd,hotspot,nw,srad"),
    ("oversubscription", "Over-subscription without a prefetcher", OVER_SUBSCRIBED),
    ("eviction", "Evictors", OVER_SUBSCRIBED),
    ("combinations", "Prefetcher with evictor", OVER_SUBSCRIBED),
    ("lru_2m", "Neighbourhood eviction and LRU of 2 MB", SOME),
    ("scalability", "More over-subscription", SOME),
    ("reservation", "Reserved share", SOME),
    ("access_pattern", "Pages over time", "nw"),
    ("v100_prefetchers", "Prefetchers on the V100 of the GPGPU-Sim 4 study", "bfs,hotspot,pathfinder,backprop,srad"),
    ("shootdown", "TLB shootdown", "bfs,hotspot,pathfinder,backprop"),
    ("remote_access", "Remote access and delayed migration", "bfs"),
    ("driver_batches", "The driver's batches", "triad"),
    ("batch_cost", "Cost of the driver's batches", None),
    ("host_link", "The host link", None),
    ("waiting", "What waiting costs", None),
]


def run(context, page, name, heading, *options, made=None):
    """Runs an experiment and puts its table and its plot (named `made`) on the page. Traces and results of runs are kept."""
    made = made or name
    os.makedirs(PICTURES, exist_ok=True)
    out = os.path.join(WORK, "out")
    subprocess.run([sys.executable, os.path.join(EXPERIMENTS, name + ".py"), context.program, "--work", WORK, "--out", out,
                    "--binaries", os.path.join(ROOT, "build", "uvm-programs"), *options], check=True)
    with open(os.path.join(out, made + ".md")) as f:
        page.text(f"### {heading}", "", f.read().strip())
    picture = os.path.join(out, made + ".svg")
    if os.path.exists(picture):
        shutil.copy(picture, PICTURES)
        page.text(f"![{heading}](../uvm/{made}.svg)")


def write(context, page):
    """Runs the experiments on the programs that examples/uvm/make.sh builds."""
    page.text("Programs of `examples/uvm`, with the access patterns and footprints of the published programs but not their code. They are recorded",
              "in the order of their PTX, which UVMSmart simulates (`record` without the steps schedule, integers, setup, temporaries, slow_paths and",
              "left_out), on the machine that UVMSmart's configuration of a GTX 1080 Ti describes (`configs/uvmsmart_gtx1080ti.ini`) unless stated",
              "otherwise. Published times are from ISCA 2019 and UVMSmart's logs. Memory is given as a share of the footprint. Each table and plot has",
              "a script in `tools/experiments/uvm`. Where a time is far from the published one, the end of [the page on the published",
              "programs](managed-programs.md) compares both programs.")
    subprocess.run([os.path.join(ROOT, "examples", "uvm", "make.sh"), os.path.join(ROOT, "build", "uvm-programs")], check=True)
    for name, heading, benchmarks in SCRIPTS:
        run(context, page, name, heading, "--measured", os.path.dirname(context.measurements("x")),
            *(["--only", benchmarks] if benchmarks else []))
