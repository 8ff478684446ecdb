"""Section: CUDA programs as they are, beside the recordings of them."""
import shutil

from .bench import bench

TITLE = "Speed of programs beside their recordings"


def write(context, page):
    if not shutil.which("nvcc"):
        page.text("Needs nvcc.")
        return
    page.text("`lockstep exec` executes a program and times its kernels at once; `lockstep run` has only to time what was recorded.",
              "The programs are those of `examples/`, each with its own check of its results on the host, which is part of exec's time.",
              "The goal is 0.8.")
    page.text(bench(context, "exec", keeps=False))
