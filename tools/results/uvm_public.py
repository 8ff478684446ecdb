"""Section: UVMSmart's own managed benchmarks (public_programs.sh puts them into FOLDER/uvmsmart of --programs)."""
import os

from .uvm import run

TITLE = "Managed memory, UVMSmart's programs"
NEEDS_PROGRAMS = True


def write(context, page):
    page.text("The managed benchmarks of DebashisGanguly/gpgpu-sim_UVMSmart as nvcc of CUDA 13 compiles them, on its GTX 1080 Ti;",
              "published: ISCA 2019 and its logs.")
    run(context, page, "public_programs", "Prefetchers and evictors", "--public", os.path.join(context.programs.folder, "uvmsmart"))
