"""Section: a public ladder of tensor-core kernels on an H100."""
from .common import error_summary, percent

TITLE = "GEMM, step by step, on an H100"
NEEDS_PROGRAMS = True

GPU, SIZE = "h100_sxm", 6144
# TFLOP/s: README of pranjalssh/fast.cu @a1bb7b2, "Run on H100 SXM", N=2048*3.
PUBLISHED = {2: ("one warpgroup per CTA, TMA", 476.6), 5: ("persistent CTAs", 625.8), 4: ("a producer and two consumers", 651.2),
             6: ("mbarriers in PTX, Hilbert order", 766.3), 7: ("clusters of two, multicast", 774.4), 11: ("stores by TMA", 794.5)}
# Kernels that keep the tensor cores busy, at the clock of the data sheet's tensor peak (989.4 TFLOP/s of 132 SMs).
BUSY, PEAK_CLOCK = (6, 7, 11), "1830MHz"


def tflops(context, number, *options):
    (kernel,) = context.programs.exec(GPU, ["h100_gemm", str(number), str(SIZE)], *options)["kernels"]
    return 2 * SIZE ** 3 / kernel["elapsed_ns"] / 1000


def write(context, page):
    rows, pairs = [], []
    for number, (what, published) in PUBLISHED.items():
        ours = tflops(context, number)
        pairs.append((published, ours))
        row = [number, what, f"{published:.0f}", f"{ours:.0f}", percent(ours / published - 1), "", ""]
        if number in BUSY:
            slower = tflops(context, number, "--set", f"clock.core_khz={PEAK_CLOCK}")
            row[5:] = [f"{slower:.0f}", percent(slower / published - 1)]
        rows.append(row)
    page.text(f"Kernels of pranjalssh/fast.cu (@a1bb7b2) on C = A B of {SIZE} x {SIZE} bf16 with sums of fp32, in TFLOP/s, beside those that its README",
              "has of an H100 SXM, from the slowest to the fastest. The main program is `tools/results/h100_gemm.cu`, which says how it is built (nvcc 13.0)",
              "and compares results with sums of the host (`check`). Kernel 1 uses no tensor cores and would take hours. (The README",
              "describes kernel 2 with tiles of 192 x 192; its code has 128 x 128.)")
    page.table(["kernel", "what is new", "published", "Lockstep", "error", "at 1830 MHz", "its error"], rows)
    page.text(error_summary(context.program, pairs), "",
              "The clock of the published runs is not known. `h100_sxm` has the highest, 1980 MHz; under products that keep all tensor cores busy an H100",
              "takes more power than it may and lowers its clock, which is not modelled. The data sheet's peak is that of 1830 MHz. Without clusters the",
              "L2's bandwidth binds: each SM needs 48 KiB of operands for 1,024 cycles of its tensor cores, 12.5 TB/s for all at 1980 MHz, and the slices",
              "here give 7.4. On hardware a coalescer in front of the L2 unites requests of several SMs for a line (Nsight Compute, glossary: LRC), which is",
              "not modelled either. With clusters of two the CTAs share a fetch, here as there. No parameter was fitted to these rows.")
