"""Section: CUTLASS's examples for Hopper on an H100."""
import collections

from .common import error_summary, percent

TITLE = "CUTLASS's Hopper examples on an H100"
NEEDS_PROGRAMS = True

GPU, SMS = "h100_sxm", 132
# Operations in a cycle on an SM's tensor cores. The H100's data sheet: 989.4 TFLOP/s of fp16 with 132 SMs at 1830 MHz.
RATES = {"tf32": 2048, "fp16": 4096, "sparse fp16": 8192, "fp8": 8192, "int8": 8192}

# command: the program and its arguments. prints: a pattern. kernels: the launches to time. check: what its own check says then.
Run = collections.namedtuple("Run", "command prints kernels check", defaults=("passed",))
# what: of the kernel. flop: its operations. launch: its id, one of run.kernels. published: us, and of which of SOURCES.
Row = collections.namedtuple("Row", "run what rate size flop launch published", defaults=(None,))

SOURCES = {
    1: "an H200 SXM, nvcc 12.9, CUTLASS f74fea9c, means of 20 launches at the clock as it was: new-TonyWang/KernelWiki @07325b46, "
       "`sources/experience/api-probes/gemm.md` and `wiki/nvidia/foundations/compute/gemm.md`",
    2: "an H100 whose kind is not said, 2023: NVIDIA/cutlass#1088",
    3: "an H200, from TFLOP/s: likewise, README.md of `attention-fmha-example` and `-collective` in `wiki/nvidia/code-walkthroughs/cutlass-cute`",
}


def gemm(program, size, kernels, *arguments):
    """A run of an example that multiplies an M x K by a K x N matrix, and its size and operations."""
    m, n, k = size
    command = (program, f"--m={m}", f"--n={n}", f"--k={k}", *arguments)
    return Run(command, "Disposition: Passed", kernels), f"{m} x {n} x {k}", 2 * m * n * k


def tf32(edge, published):
    run, size, flop = gemm("48_hopper_warp_specialized_gemm", (edge, edge, edge), (7, 8), "--iterations=2")
    return Row(run, "cooperative, clusters of 4 x 2", "tf32", size, flop, 8, published)


def attention(positions, mask, published):
    """Published are TFLOP/s as the example counts: two products, half of them with a causal mask."""
    masked = ("--mask=causal",) if mask == "causal" else ()
    command = ("88_hopper_fmha_128", "--b=2", "--h=16", f"--q={positions}", f"--k={positions}", "--d=128", *masked, "--iterations=1")
    run = Run(command, "tma ws ping-pong", (4, 5, 9, 10), check="off: too long")
    flop = (2 if mask == "causal" else 4) * 2 * 16 * positions ** 2 * 128
    for launch, what, tflops in zip((5, 10), ("cooperative", "ping-pong"), published):
        yield Row(run, f"attention, {mask}, {what}", "fp16", f"B 2, H 16, {positions}, 128", flop, launch, (flop / tflops / 1e6, 3))


def rows():
    """Of launches that are repeated the second one, which finds the L2 as the first has left it."""
    yield from (tf32(512, (12.52, 1)), tf32(1024, (17.92, 2)), tf32(1536, (48.51, 1)), tf32(2048, (90.66, 1)))
    run, size, flop = gemm("62_hopper_sparse_gemm", (2048, 2048, 2048), (8, 9, 10, 11), "--iterations=2", "--warmup=0")
    yield Row(run, "A with two zeros in four", "sparse fp16", size, flop, 9)
    yield Row(run, "the same dense", "fp16", size, flop, 11)
    run, size, flop = gemm("54_hopper_fp8_warp_specialized_gemm", (2048, 2048, 2048), (2, 3), "--iterations=2")
    yield Row(run, "epilogue with bias, ReLU, largest value, second output", "fp8", size, flop, 3)
    yield from attention(1024, "full", (366.6, 376.1))
    yield from attention(2048, "causal", (307.1, 348.5))


def simulated(context, row, done):
    """The launch's time in us and TFLOP/s, and its share of the peak. `done`: stats of earlier runs."""
    run = row.run
    if run not in done:
        done[run] = context.programs.checked(GPU, run.command, run.prints, "--kernels", ",".join(map(str, run.kernels)))
    (kernel,) = [kernel for kernel in done[run]["kernels"] if kernel["id"] == row.launch]
    tflops = row.flop / kernel["elapsed_ns"] / 1000
    return kernel["elapsed_ns"] / 1000, tflops, tflops / (RATES[row.rate] * SMS * done[run]["core_khz"] / 1e9)


def explain(context, page, pairs):
    page.text(f"Sources: {'; '.join(f'({number}) {what}' for number, what in SOURCES.items())}.", error_summary(context.program, pairs),
              "No figures were found for the other rows, which show the order of types and schedules. NVIDIA/cutlass#3168 has 690 TFLOP/s of example 54",
              "(8192 x 4096 x 8192) on an H100 PCIe, whose limit of power such a product meets; it was not run here.")
    page.text("*Clusters of 4 x 2.* On the H200 of (1) probably 15 of them run at a time: its 4096 x 4096 x 4096 and 5120 x 4096 x 4096 take 497.7 and 608.0 us,",
              "9 and 11 times 55.3, which fits 120 CTAs for 1,024 and 1,280 tiles, not 128. Such clusters occupied 120 SMs of an H100 in",
              "accel-sim/gpu-app-collection#87, and cuBLAS launches 60 x 2 CTAs (NVIDIA/cutlass#1921). So the last GPC of `h100_sxm` has 14 SMs, the others",
              "16 or 18. With eight GPCs of 16 and 18, which hold 16 clusters, 2048 x 2048 x 2048 was two rounds of tiles instead of three, and 40.9 % too fast.")
    page.text("*Shares below a half.* A tile of 128 x 128 needs 32 KiB of operands for each 512 cycles of its SM's tensor cores (48 KiB if A is sparse), and",
              "the SM's port takes 64 bytes in a cycle of the crossbar, 561 (842) core cycles for these. So the sparse product is at most a third faster than the",
              "dense one and is a tenth; NVIDIA/cutlass#2229 asks why it is no more than 20 % on an H100. With two tiles for each SM the rest is their first",
              "operands and the epilogue, during which the tensor cores wait; that of fp8 (bias, ReLU, largest value, second output) issues instructions for",
              "15,000 of 43,000 cycles, nearly as long as its products take.")


def write(context, page):
    page.text("Examples of NVIDIA/cutlass @7107b055, built outside of this project by nvcc 13.0 (`-std=c++17 --expt-relaxed-constexpr`, with the headers of",
              "the library, its utilities and its examples), 48 and 54 for sm_90a, the others as PTX for it; of 88 only the forward pass with heads of 128. They",
              "compare their results with those of simple kernels or loops, which takes too long for 88 (its cooperative kernel passes with B 1, H 2 and 256",
              "positions). Times are those of the second of two launches, with its 1.24 us, at 1980 MHz; shares are those of the tensor cores' peak for the",
              "type (fp16: 1,071 TFLOP/s). Of a sparse matrix the zeros count as well.")
    table, pairs, done = [], [], {}
    for row in rows():
        us, tflops, share = simulated(context, row, done)
        cells = [row.run.command[0], row.rate, row.what, row.size, f"{us:.1f}", f"{tflops:.0f}", f"{100 * share:.0f} %", row.run.check, "none", "-"]
        if row.published:
            published, source = row.published
            cells[8:] = [f"{published:.1f} ({source})", percent(us / published - 1)]
            pairs.append((published, us))
        table.append(cells)
    page.table(["example", "type", "kernel", "size", "us", "TFLOP/s", "of peak", "own check", "published us (source)", "error"], table)
    explain(context, page, pairs)
