"""Section: kernels that read, write or copy memory of an A100, by its size. Needs tests/cuda_sweeps beside the program."""
import json
import os
import statistics

from .common import error_summary, percent
from .split import is_check

TITLE = "Sweeps over memory on an A100"
PTX = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "cuda", "program", "sweeps.ptx")
KINDS = ("read", "write", "copy")
LARGEST_MIB = 128  # of those that are simulated: from 64 MiB on it is the rate of the DRAM
LAUNCHES = 3       # the last one is taken: from the second on they take the same time
SHORT_MIB = 4      # rows in which what events cost is found


def conditions(context, mhz):
    """Options for the clock at which the GPU was; L2 and crossbar in proportion."""
    parameters = json.loads(context.call("config", "a100", "--json"))["parameters"]
    khz = {key: int(parameters[key]["value"]) for key in ("clock.core_khz", "clock.l2_khz", "clock.icnt_khz")}
    scaled = [f"{key}={round(value * 1000 * mhz / khz['clock.core_khz'])}" for key, value in khz.items()]
    return [word for setting in scaled for word in ("--set", setting)]


def time_of(context, options, kind, size, ctas):
    """us between two events around a kernel."""
    program = os.path.join(os.path.dirname(context.program), "tests", "cuda_sweeps")
    text = context.call("exec", "-q", "-c", "a100", *options, "--", program, PTX, kind, str(size), str(ctas), str(LAUNCHES))
    return int(text.split()[-1]) / 1e6


def write(context, page):
    with open(context.measurements("a100_sxm_device.json")) as f:
        measured = json.load(f)
    rows = []  # kind, MiB, measured us, ours, a check?
    for row in measured["hbm"]:
        if row["size_mib"] > LARGEST_MIB:
            continue
        options = conditions(context, row["clocks_before"]["sm_mhz"])
        for kind in KINDS:
            rows.append((kind, row["size_mib"], row[f"{kind}_ms"] * 1e3, time_of(context, options, kind, row["bytes"], measured["grid_blocks"]),
                         is_check(f"A100-SXM4-80GB+hbm_{kind}+{row['size_mib']}")))
    events = statistics.median(there - ours for _, size, there, ours, check in rows if size <= SHORT_MIB and not check)
    rows.sort(key=lambda row: KINDS.index(row[0]))
    page.text(f"{measured['grid_blocks']} CTAs of {measured['block_threads']} threads read, write or copy memory, 16 bytes a lane at a time, again and again the same",
              "(openfabric-systems/simllm @9c2672cd, a100_sxm_device.json: A100 SXM4 80 GB, median of ten launches), each launch between two events. `a100` runs",
              "at the measured core clock of 1275 MHz, L2 and crossbar in proportion. The GPU's event times are multiples of 1.024 us.")
    page.text(f"Events cost {events:.2f} us more on the GPU: the median of that in the rows to derive from of at most {SHORT_MIB} MiB. It is added to the simulated times.")
    page.table(["kernel", "MiB", "measured us", "simulated us", "error", "row"],
               [[kind, size, f"{there:.2f}", f"{ours + events:.2f}", percent((ours + events) / there - 1), "check" if check else "derive"]
                for kind, size, there, ours, check in rows])
    pairs = [(there, ours + events, check) for _, _, there, ours, check in rows]
    page.text(error_summary(context.program, [(a, b) for a, b, _ in pairs]), "",
              "Rows kept as a check. " + error_summary(context.program, [(a, b) for a, b, check in pairs if check]))
    page.text("From a write of 32 MiB, which takes as long as the DRAM needs for all of it, is `l2.dirty_ways`: of the A100's 40 MiB at most half are dirty, as on a V100.")
