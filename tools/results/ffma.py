from .common import error_summary, percent

TITLE = "Dependent FFMA on an H100 PCIe"
# H100 PCIe under ncu, cycles of the whole kernel; and ncu's launch floor, the intercept of its empty-kernel rows.
HARDWARE = {"ffma-h100-10": 9576, "ffma-h100-20": 14781, "ffma-h100-30": 20028, "ffma-h100-40": 25446}
NCU_FLOOR = 3950
SHORT, LONG = "ffma-h100-10", "ffma-h100-40"


def write(context, page):
    page.text("Hardware and model run at 1.1 GHz, as under ncu (public measurements, h100_pcie_kernels.csv). ncu's launch floor of about",
              f"{NCU_FLOOR:,} cycles, the intercept of its empty-kernel rows, is added to the simulated cycles.")
    kernels, rows, pairs = {}, [], []
    for name, hardware in HARDWARE.items():
        kernels[name] = context.run(context.trace(name), "h100_pcie", "--set", "core.clock_mhz=1100").stats["kernels"][0]
        ours = kernels[name]["cycles"] + NCU_FLOOR
        pairs.append((hardware, ours))
        rows.append([f"`{name}`", f"{hardware:,}", f"{ours:,}", percent(ours / hardware - 1)])
    page.table(["trace", "hardware", "Lockstep and floor", "error"], rows)

    def difference(field):
        return kernels[LONG][field] - kernels[SHORT][field]

    slope = difference("cycles") / difference("warp_instructions")
    hardware = (HARDWARE[LONG] - HARDWARE[SHORT]) / difference("warp_instructions")
    page.text(f"Slope: {slope:.2f} cycles per warp instruction, hardware {hardware:.2f} ({percent(slope / hardware - 1)}).",
              error_summary(context.program, pairs))
