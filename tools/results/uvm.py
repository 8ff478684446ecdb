import os
import shutil
import subprocess
import sys

TITLE = "Managed memory"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXPERIMENTS = os.path.join(ROOT, "tools", "experiments", "uvm")
PICTURES = os.path.join(ROOT, "docs", "uvm")
# Script and heading.
SCRIPTS = [
    ("prefetchers", "Prefetchers, memory for all"),
    ("oversubscription", "Over-subscription without a prefetcher"),
    ("eviction", "Evictors"),
    ("combinations", "Prefetcher with evictor"),
    ("lru_2m", "Neighbourhood eviction and LRU of 2 MB"),
    ("reservation", "Reserved share"),
    ("scalability", "More over-subscription"),
    ("remote_access", "Delayed migration"),
    ("v100_prefetchers", "Prefetchers on the V100 of the GPGPU-Sim 4 study"),
    ("shootdown", "TLB shootdown"),
    ("driver_batches", "The driver's batches"),
]


def write(context, page):
    """Runs the experiments on the programs that examples/uvm/make.sh builds; traces and results of runs are kept."""
    page.text("Programs of `examples/uvm`, with the access patterns and footprints of the published ones but not their code, on",
              "UVMSmart's GTX 1080 Ti (`configs/uvmsmart.ini`) unless said otherwise; published: ISCA 2019 and its logs. Memory",
              "is given as a share of the footprint. One script of `tools/experiments/uvm` for each table and plot.")
    os.makedirs(PICTURES, exist_ok=True)
    programs, work = os.path.join(ROOT, "build", "uvm-programs"), os.path.join(ROOT, "build", "experiments", "uvm")
    subprocess.run([os.path.join(ROOT, "examples", "uvm", "make.sh"), programs], check=True)
    out = os.path.join(work, "out")
    for name, heading in SCRIPTS:
        subprocess.run([sys.executable, os.path.join(EXPERIMENTS, name + ".py"), context.program, "--binaries", programs,
                        "--work", work, "--out", out], check=True)
        with open(os.path.join(out, name + ".md")) as f:
            page.text(f"### {heading}", "", f.read().strip())
        picture = os.path.join(out, name + ".svg")
        if os.path.exists(picture):
            shutil.copy(picture, PICTURES)
            page.text(f"![{heading}](uvm/{name}.svg)")
