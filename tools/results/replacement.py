"""Section: what the pointer chases at the end of the L2 say about its replacement policy."""
import os

from .common import percent

TITLE = "End of the L2 by replacement policy"

GPU = "v100"
POLICIES = ("lru", "nru", "hashed_random")
# Footprints of the tables that count, as parts of the L2.
LOW, HIGH = 0.9, 1.6


def latency_of(machine, footprint, shape):
    """Cycles of a load in a chain of pointers, of four laps after four others: what a policy keeps has settled by then."""
    elements = footprint // shape["stride"]
    cycles = machine.cycles("pointer_chase", footprint=elements * shape["stride"], threads=shape["threads"],
                            stride=shape["stride"], warm=elements, first=3 * elements, second=4 * elements)
    return cycles[-1] / (4 * elements)


def write(context, page):
    import microbench_memory as memory

    page.text(f"Which line a full set of the L2 gives up is not published. On a V100, whose L2 has one part, the chains of pointers of the",
              "tables above tell the policies apart. Cycles a load, the mean of four laps after four others.",
              "Random replacement is excluded: nothing is kept by chance from 1.1 times the L2 on, nor on an A100, whose bandwidth (gpu-l2-cache) is",
              "the DRAM's from 1.3 times the L2 on. LRU, the default, is the closest over both tables. NRU is closer in the first, where most of LRU's",
              "error is that of the DRAM's latency (435 for 425 cycles), and much further off in the second. A chain cannot tell LRU from first in, first out.")
    for source in ("RRZE-HPC", "te42kyfo"):
        machines = {policy: memory.Machine(context.program, GPU, (f"l2.replacement={policy}",)) for policy in POLICIES}
        l2, shape = machines["lru"].l2 / 1024, memory.chase_shape(source, GPU)
        measured = memory.read_rows(os.path.join(context.data, "hw"), "pointer_chase_latency.csv", gpu=GPU, source=source)
        near = [r for r in memory.distinct(measured, "footprint_kB") if LOW * l2 <= float(r["footprint_kB"]) <= HIGH * l2]
        rows, errors = [], {policy: [] for policy in POLICIES}
        for row in near:
            latency, footprint = float(row["latency_cycles"]), int(float(row["footprint_kB"]) * 1024)
            ours = {policy: latency_of(machine, footprint, shape) for policy, machine in machines.items()}
            for policy in POLICIES:
                errors[policy].append(abs(ours[policy] / latency - 1))
            rows.append([row["footprint_kB"], f"{latency:.1f}", *(f"{ours[policy]:.1f}" for policy in POLICIES)])
        rows.append(["mean error", "", *(percent(sum(errors[policy]) / len(near)).lstrip("+") for policy in POLICIES)])
        page.text(f"{source}, {shape['threads']} thread{'s' if shape['threads'] > 1 else ''}:")
        page.table(["footprint, KiB", "measured", *POLICIES], rows)
