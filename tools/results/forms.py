from .bench import MEASURED, bench, real

TITLE = "Speed by form of the trace"


def write(context, page):
    page.text("The same kernels from traces in text and in `.gz`, on one thread. Memory is the largest of the three forms.")
    only = [option for name in MEASURED for option in ("--only", name)]
    page.text(bench(context, "speed", *real(context), "--forms", "compact,text,gz", "--threads", "1", "--rounds", "2",
                    *only))
