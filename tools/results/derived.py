import os

from . import memory_tables

TITLE = "Derived parameters"


def write(context, page):
    import derive_memory

    page.text("Parameters as derived from the calibration rows, beside those of the configurations: `tools/derive_memory.py LOCKSTEP GPU",
              "--measured DATA/hw`. Clocks of the L2 are rounded to 100 MHz, since a measured bandwidth is a little less than the peak.")
    rows = []
    for gpu in memory_tables.GPU_MODELS:
        found = derive_memory.derive(context.program, gpu, os.path.join(context.data, "hw"))
        rows += [[gpu, f"`{key}`", f"{value:,}", has] for key, value, has in found]
    page.table(["GPU", "key", "derived rows give", "configuration"], rows)
