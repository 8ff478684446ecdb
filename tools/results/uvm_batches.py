"""Times of the driver's batches on a Tesla T4 (uvm_t4_batch_latency.csv), and which rows may be used to choose parameters."""
import collections

from command_line import table

from .split import is_check

KIB_US = 0.1375  # GTX 1080 Ti, nvprof: a KiB that a fault brings, 0.084 us of it on the link

Row = collections.namedtuple("Row", "key app faults batches us")


def read(path):
    rows = table(path, ("policy", "app", "arg"), ("faults_in_batch", "n_batches", "median_us"))
    return [Row("+".join((r["policy"], r["app"], r["arg"], r["faults_in_batch"])), r["app"], int(float(r["faults_in_batch"])),
                int(float(r["n_batches"])), float(r["median_us"])) for r in rows]


def derives(row):
    return not is_check(row.key)
