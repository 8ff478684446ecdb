"""Section: kernels that read, write or copy memory, by its size. Needs tests/cuda_sweeps beside the program."""
import csv
import json
import os
import statistics

from .common import error_summary, percent
from .split import is_check

TITLE = "Sweeps over memory by size"
HERE = os.path.dirname(os.path.abspath(__file__))
PTX = os.path.join(HERE, "..", "..", "tests", "cuda", "program", "sweeps.ptx")
KINDS = ("read", "write", "copy")
LARGEST_MIB = 128  # of those that are simulated: from 64 MiB on it is the rate of the DRAM
LAUNCHES = 3       # the last one is taken: from the second on they take the same time
SHORT_MIB = 4      # rows in which what events cost is found


def conditions(context, mhz):
    """Options for the core clock at which the A100 was; L2 and crossbar in proportion."""
    parameters = json.loads(context.call("config", "a100", "--json"))["parameters"]
    khz = {key: int(parameters[key]["value"]) for key in ("clock.core_khz", "clock.l2_khz", "clock.icnt_khz")}
    scaled = [f"{key}={round(value * 1000 * mhz / khz['clock.core_khz'])}" for key, value in khz.items()]
    return [word for setting in scaled for word in ("--set", setting)]


def time_of(context, gpu, options, kind, mib, ctas):
    """us between two events around a kernel."""
    program = os.path.join(os.path.dirname(context.program), "tests", "cuda_sweeps")
    text = context.call("exec", "-q", "-c", gpu, *options, "--", program, PTX, kind, str(mib << 20), str(ctas), str(LAUNCHES))
    return int(text.split()[-1]) / 1e6


def rows_of(context, gpu, name, ctas, measured, options):
    """(kind, MiB, measured us, simulated us, whether it is a check) of `measured`: (kind, MiB) to us."""
    return [(kind, mib, there, time_of(context, gpu, options, kind, mib, ctas), is_check(f"{name}+hbm_{kind}+{mib}"))
            for (kind, mib), there in measured.items() if mib <= LARGEST_MIB]


def write_rows(context, page, rows, events=0):
    """`events`: us that are added to the simulated times."""
    page.table(["kernel", "MiB", "measured us", "simulated us", "error", "row"],
               [[kind, mib, f"{there:.2f}", f"{ours + events:.2f}", percent((ours + events) / there - 1), "check" if check else "derive"]
                for kind, mib, there, ours, check in rows])
    pairs = [(there, ours + events, check) for _, _, there, ours, check in rows]
    page.text(error_summary(context.program, [(a, b) for a, b, _ in pairs]), "",
              "Rows kept as a check. " + error_summary(context.program, [(a, b) for a, b, check in pairs if check]))


def write_a100(context, page):
    with open(context.measurements("a100_sxm_device.json")) as f:
        table = json.load(f)
    measured = {(kind, row["size_mib"]): row[f"{kind}_ms"] * 1e3 for kind in KINDS for row in table["hbm"]}
    options = conditions(context, table["hbm"][0]["clocks_before"]["sm_mhz"])
    rows = rows_of(context, "a100", "A100-SXM4-80GB", table["grid_blocks"], measured, options)
    events = statistics.median(there - ours for _, mib, there, ours, check in rows if mib <= SHORT_MIB and not check)
    page.text("### a100")
    page.text("A100 SXM4 80 GB (simllm @9c2672cd, a100_sxm_device.json), 864 CTAs. `a100` runs at the measured core clock of 1275 MHz, L2 and crossbar in",
              "proportion. The GPU's event times are multiples of 1.024 us.")
    page.text(f"Events cost {events:.2f} us more on this GPU: the median of that in the rows to derive from of at most {SHORT_MIB} MiB. It is added to the simulated times.")
    write_rows(context, page, rows, events)


def write_gh200(context, page):
    with open(os.path.join(HERE, "sweeps_gh200.csv")) as f:
        table = list(csv.DictReader(line for line in f if not line.startswith("#")))
    measured = {(kind, int(row["mib"])): float(row[kind]) for kind in KINDS for row in table}
    page.text("### gh200")
    page.text("GH200 (simllm @5dd46e04, examples/gh200_hardware_envelope_v1), 1,056 CTAs. Nothing is added.")
    write_rows(context, page, rows_of(context, "gh200", "GH200-120GB", 1056, measured, []))


def write(context, page):
    page.text("CTAs of 256 threads read, write or copy memory, each lane 16 bytes at a time, again and again the same, each launch between two events",
              "(openfabric-systems/simllm; medians of ten launches).")
    write_a100(context, page)
    write_gh200(context, page)
    page.text("From the rows to derive from are, of the A100 and Hopper, `icnt.slice_in_bytes` (what the L2 keeps is written at half of the rate at which it is",
              "read), `l2.dirty_ways` (a write of 32 MiB takes as long as an A100's DRAM needs for all of it, one of 64 MiB a GH200's: of the 40 and 60 MiB of L2 at",
              "most half are dirty, as on a V100), and the GH200's clock of the L2.", "",
              "The row that is furthest off is the A100's copy of 16 MiB: there hardware takes as long as its DRAM needs for all of it, although source and",
              "target, 32 MiB, are smaller than the L2 of 40. What of them does not stay there is not known; in the model all does.")
