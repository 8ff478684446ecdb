from .bench import MEASURED, bench, real

TITLE = "Speed"
ROUNDS = "3"


def write(context, page):
    page.text("The kernels on which Accel-Sim was measured, made by our generator in the same size, and real traces.",
              "Everything that the model has is on. These figures differ from host to host; `cycles` do not (they count",
              "copies, too). Accel-Sim's rate: CPU time on a machine of the same kind, another day. On two threads a kernel that fills the GPU is shared; the",
              "start, the copies before it and small kernels are done by one, so short runs gain less: the second column of",
              "the second table has the kernels alone. Long SGEMM: five times as deep and launched four times over the same",
              "matrices, as iterations are.")
    only = [option for name in [*MEASURED, "chain, long", "sgemm, long"] for option in ("--only", name)]
    page.text(bench(context, "speed", *real(context), "--rounds", ROUNDS, *only))
