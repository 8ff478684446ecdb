from .bench import MEASURED, bench, real

TITLE = "Speed"
ROUNDS = "3"


def write(context, page):
    page.text("The kernels on which Accel-Sim was measured, generated in the same size by `lockstep synth`, and real traces.",
              "All parts of the model are enabled. The figures depend on the host, except `cycles` (which include",
              "copies). Accel-Sim's rate was measured by CPU time on a machine of the same kind on another day. Two threads share a kernel that fills",
              "the GPU; one thread does the start, the copies before the kernel, and small kernels, so short runs gain less: the second column of",
              "the second table has the kernels alone. Long SGEMM has five times the depth and is launched four times over the same",
              "matrices, as in iterations.")
    only = [option for name in [*MEASURED, "chain, long", "sgemm, long"] for option in ("--only", name)]
    page.text(bench(context, "speed", *real(context), "--rounds", ROUNDS, *only))
