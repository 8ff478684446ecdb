import os

from . import memory_tables

TITLE = "Derived parameters"


def write(context, page):
    import derive_memory

    page.text("Parameters as derived from the calibration rows, beside those of the configurations: `tools/derive_memory.py LOCKSTEP GPU",
              "--measured DATA/hw`. Clocks of the L2 are rounded to 100 MHz, since a measured bandwidth is a little less than the peak.")
    rows = []
    for product in memory_tables.PRODUCTS:
        found = derive_memory.derive(context.program, product, os.path.join(context.data, "hw"))
        rows += [[product, f"`{key}`", f"{value:,}", has] for key, value, has in found]
    page.table(["product", "key", "derived rows give", "configuration"], rows)
