import os
import subprocess
import tempfile

TITLE = "Speed"
BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
ROUNDS = "3"


def bench(name, *arguments):
    command = [os.path.join(BENCH, name), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def write(context, page):
    page.text("The kernels on which Accel-Sim was measured, made by our generator in the same size; the bundled traces; real",
              "traces. Everything that the model has is on. These figures differ from host to host; `cycles` do not (they",
              "count copies, too). Accel-Sim's rate: CPU time on a machine of the same kind, another day; the goal is",
              "100 times its rate, or 60 times that of a patched one (chain, bfs). Two threads share a kernel that fills",
              "the GPU; copies before it and small kernels are done by one, which the whole run's ratio shows.")
    with tempfile.TemporaryDirectory() as work:
        page.text(bench("speed", context.program, "--real", os.path.join(context.data, "traces"), "--forms",
                        "compact,text,gz", "--rounds", ROUNDS, "--work", work))
    page.text("### More threads", "",
              "Projected from what one thread measures (`bench/scaling --help` has the formula), and measured as far as there",
              "are cores. Imbalance: length of the shared windows over that of evenly divided ones. Cores that slow each",
              "other down are not in the projection. The goal is 13x on 16 threads.")
    page.text(bench("scaling", context.program))
