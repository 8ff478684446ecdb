from .bench import bench

TITLE = "Speed on more threads"


def write(context, page):
    page.text("Projected from the parts that one thread measures (`bench/scaling --help` has the formula), and measured as far as there",
              "are cores. Imbalance is the length of the shared windows divided by that of evenly divided ones. The projection does not",
              "include that cores slow each other down. Start and copies are a larger share of the short runs, whose size is that in which",
              "Accel-Sim was measured, than of the runs for which a cluster is used: long SGEMM is a matrix product launched four times",
              "over the same matrices.")
    only = [option for name in ("sgemm, long", "sgemm", "random", "streaming") for option in ("--only", name)]
    page.text(bench(context, "scaling", *only))
