"""Section: CUDA programs as they are, beside the recordings of them. Needs nvcc, as bench/exec says where it is not there."""
from .bench import bench

TITLE = "Speed of programs beside their recordings"


def write(context, page):
    page.text("`lockstep exec` executes a program and simulates its kernels at the same time; `lockstep run` only simulates what was recorded.",
              "The programs are those of `examples/`, each with its own check of its results on the host, which is part of exec's time.")
    page.text(bench(context, "exec", keeps=False))
