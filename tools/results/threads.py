from .bench import bench

TITLE = "Speed on more threads"


def write(context, page):
    page.text("Projected from what one thread measures (`bench/scaling --help` has the formula), and measured as far as there",
              "are cores. Imbalance: length of the shared windows over that of evenly divided ones. Cores that slow each",
              "other down are not in the projection. Start and copies are a larger share of the",
              "short runs, whose size is that in which Accel-Sim was measured, than of those that a cluster is asked for: long",
              "SGEMM is a product launched four times over the same matrices.")
    only = [option for name in ("sgemm, long", "sgemm", "random", "streaming") for option in ("--only", name)]
    page.text(bench(context, "scaling", *only))
