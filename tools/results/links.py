"""Section: links between GPUs and all-reduce on them. Needs programs: examples/multi_gpu/allreduce_rings.cu and
allreduce_copy.cu as nvcc makes them with -cudart shared; examples/p2p_bandwidth is beside the program. Where there is a
program nccl_allreduce too (examples/multi_gpu/nccl_allreduce.cpp with NCCL built as tools/compatibility/nccl.toml says, and
found by its run path), NCCL itself is compared."""
import csv
import json
import os
import re
import statistics
import subprocess
import tempfile

from .split import is_check

TITLE = "Links between GPUs"
NEEDS_PROGRAMS = True

COPY, BOTH, STORE = "copies, GB/s", "copies both ways, GB/s together", "stores of a kernel, GB/s"
COPY_TIME, STORE_TIME = "a copy of 16 bytes, us", "a kernel that stores 16 bytes, us"
LOAD_TIME = "a load from the L2, ns"
# System, what, GPUs to compare, lowest and highest published value, source. p2p: p2pBandwidthLatencyTest; idx: as in
# DATA/nodes/links.md. A row is a check, or may be derived from, by the name "SYSTEM+WHAT" (split.py).
PUBLISHED = [
    ("hgx_a100_4", COPY, (0, 1), 94.00, 94.07, "a100_4x_nvlink.json"),
    ("hgx_a100_4", BOTH, (0, 1), 186.4, 186.4, "a100_4x_nvlink.json"),
    ("hgx_a100_4", COPY_TIME, (0, 1), 2.63, 2.82, "p2p, four A100, idx:47278818972"),
    ("dgx_a100", COPY, (0, 1), 265.1, 276.6, "p2p, idx:14685872910 and 69847027015; nvbandwidth 274.9 to 276.8"),
    ("dgx_a100", BOTH, (0, 1), 416.3, 522.5, "p2p, idx:14685872910 and 69847027015; GPU 0 (a VM's) and half of them 425, else 512 to 522"),
    ("dgx_a100", STORE, (0, 1), 200.5, 231.4, "p2p --sm_copy, idx:14685872910"),
    ("dgx_a100", COPY_TIME, (0, 1), 2.72, 3.49, "p2p, idx:14685872910 and 69847027015"),
    ("dgx_a100", STORE_TIME, (0, 1), 4.53, 5.47, "p2p --sm_copy, idx:14685872910"),
    ("dgx1_v100", COPY, (0, 3), 47.88, 47.93, "p2p, V100 SXM2, two links, Dell HPC solution guide (C4130 K)"),
    ("dgx_h100", COPY, (0, 1), 371.0, 376.8, "p2p, NVIDIA/nccl#1264"),
    ("dgx_h100", BOTH, (0, 1), 739.4, 773.3, "p2p, NVIDIA/nccl#1264"),
    ("dgx_h100", LOAD_TIME, (0, 1), 821.9, 829.5, "nvbandwidth 0.10 device_to_device_latency_sm, eight H100 80GB HBM3, driver 595.71"),
    ("gh200_4", BOTH, (0, 1), 260.9, 260.9, "p2p, four H100 with six links between two, NVIDIA/cuda-samples#392"),
]
MIB = 16
SYSTEM_GPUS = {"hgx_a100_4": 2, "dgx_a100": 2, "dgx1_v100": 4, "dgx_h100": 2, "gh200_4": 2}

# System, GPUs, rings of the kernel form, rows of measurements as (name, {bytes: us}).
NCCL_BASE_US = 6.6  # nccl_constants.csv: base latency of Ring with LL
WORDS = [(1, 1), (32, 1), (512, 1), (2048, 4), (8192, 16), (32768, 64), (131072, 64)]  # elements of a chunk, CTAs; times the GPUs * 4 bytes
COPIES = [32768, 131072, 262144]
QUADS = {"hgx_a100_4": [(1050624, 432), (2101248, 432)]}  # likewise, of 16 bytes at once; as many CTAs as fit at 512 threads
LARGEST = 1 << 30


def printed(context, system, gpus, program, *arguments):
    command = [context.program, "exec", "-q", "-c", system, "--gpus", str(gpus), "--", program, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def tables_of(text):
    """By title: rows of cells."""
    tables, rows = {}, None
    for line in text.splitlines():
        if "; from the GPU" in line:
            rows = tables.setdefault(line.split(";")[0], [])
        elif rows is not None and re.match(r"\s+\d+\s+[\d.-]+", line) and "." in line:
            rows.append([float(cell) if cell != "-" else None for cell in line.split()[1:]])
    return tables


def verdict(ours, low, high, limit):
    """Relative to the nearest published value; nothing inside their range."""
    if low <= ours <= high:
        return "inside", True
    error = ours / (low if ours < low else high) - 1
    return f"{100 * error:+.1f} %", abs(error) <= limit


def write_point_to_point(context, page):
    p2p = os.path.join(os.path.dirname(context.program), "examples", "p2p_bandwidth")
    tables = {system: tables_of(printed(context, system, gpus, p2p, MIB)) for system, gpus in SYSTEM_GPUS.items()}
    rows, outside = [], []
    for system, what, (i, j), low, high, source in PUBLISHED:
        ours = tables[system][what][i][j]
        error, good = verdict(ours, low, high, 0.25 if what.endswith(("us", "ns")) else 0.10)
        use = "check" if is_check(f"{system}+{what}") else "derive"
        rows.append([system, what, f"{ours:.2f}", f"{low:g} to {high:g}" if low != high else f"{low:g}", error, use, source])
        if not good:
            outside.append(f"{system}, {what}: {error}")
    page.text(f"`examples/p2p_bandwidth {MIB}` (the published programs copy 40 MB or 1 GiB). Errors are those to the nearest published",
              "value. Derived: `port.copy_start_ps`, from the row of hgx_a100_4;",
              "headers of NVLink 4, from two H100 PCIe that are not in the table; the other parameters are documented, or the file names their source.")
    page.table(["system", "what", "simulated", "published", "error", "row", "source"], rows)
    page.text("More than 10 % off in bandwidth or 25 % in time: " + ("; ".join(outside) or "none") + ".")


def bus(size, gpus, us):
    return size / us / 1e3 * 2 * (gpus - 1) / gpus


def time_of(text):
    return float(re.search(r"bytes: ([\d.]+) us", text).group(1))


def measured_a100_8(context):
    with open(os.path.join(context.data, "nodes", "allreduce.csv")) as f:
        rows = [r for r in csv.DictReader(f) if r["system"].startswith("A100")]
    found = {}
    for r in rows:
        found.setdefault(int(r["size_B"]), []).append(float(r["time_us_oop"]))
    return found


def measured_a100_4(context, gpus=4):
    with open(os.path.join(context.data, "nodes", "a100_4x_nvlink.json")) as f:
        rows = json.load(f)["collectives"]
    return {r["bytes"]: [r["time_us"]] for r in rows if r["op"] == "allreduce" and r["width"] == gpus}


IN_A_ROW = 3
SMALL = [1, 32]  # elements of a chunk
HOSTS = ("one thread", "a thread for each GPU")


def in_a_row(context, system, gpus, threads, chunk, ctas=1, rings=1):
    """Microseconds of one all-reduce among many that are launched in a row: what each further one adds."""
    program = os.path.join(context.programs.folder, "allreduce_rings")
    one, all_of_them = (time_of(printed(context, system, gpus, program, chunk, ctas, rings, calls, threads))
                        for calls in (1, IN_A_ROW))
    return (all_of_them - one) / (IN_A_ROW - 1)


def simulated(context, system, gpus, rings):
    """{bytes: us} of the kernel that polls words, of the one that moves 16 bytes at once, and of copies between kernels."""
    words, quads, copies = {}, {}, {}
    program = os.path.join(context.programs.folder, "allreduce_rings")
    for chunk, ctas in WORDS:
        many = max(ctas // rings, 1) * rings if ctas > 1 else 1
        text = printed(context, system, gpus, program, chunk, many, rings if many > 1 else 1, 1, gpus)
        words[chunk * gpus * 4] = time_of(text)
    for chunk, ctas in QUADS.get(system, []):
        quads[chunk * gpus * 4] = time_of(printed(context, system, gpus, program, chunk, ctas, rings))
    program = os.path.join(context.programs.folder, "allreduce_copy")
    for chunk in COPIES:
        copies[chunk * gpus * 4] = time_of(printed(context, system, gpus, program, chunk, 1))
    return words, quads, copies


def line(points, size):
    """Through the last two points."""
    (a, ta), (b, tb) = sorted(points.items())[-2:]
    return tb + (size - b) * (tb - ta) / (b - a)


def beyond(points, size):
    """The time of `size` and its text: simulated, extrapolated beyond the largest size, or nothing below."""
    if not points or size < 0.99 * max(points) and size not in points:
        return None, "-"
    if size in points:
        return points[size], f"{points[size]:.1f}"
    return line(points, size), f"({line(points, size):.0f})"


def write_all_reduce(context, page, system, gpus, rings, measured, name):
    words, quads, copies = simulated(context, system, gpus, rings)
    rows = []
    for size in sorted(measured):
        if size > LARGEST:
            continue
        kernel = words.get(size) or (words[min(words)] if size < min(words) else None)
        kernel_text = f"{kernel:.1f}" if kernel else f"({line(words, size):.0f})" if size > max(words) else None
        if kernel_text is None:
            continue
        wide, wide_text = beyond(quads, size)
        copy, copy_text = beyond(copies, size)
        best = min(t for t in (kernel or line(words, size), wide, copy) if t)
        published = measured[size]
        errors = [verdict(t, min(published), max(published), 0.25)[0] for t in (best, best + NCCL_BASE_US)]
        rows.append([f"{size:,}", kernel_text, wide_text, copy_text, f"{bus(size, gpus, best):.2f}",
                     " / ".join(f"{t:.1f}" for t in published), " / ".join(f"{bus(size, gpus, t):.2f}" for t in published),
                     *errors, "check" if is_check(f"{name}+{gpus}+{size}") else "derive"])
    page.text(f"{system}, {gpus} GPUs, {rings} ring{'s' if rings > 1 else ''} of the kernel; the published times are of NCCL.")
    page.table(["bytes", "words us", "quads us", "copies us", "fastest one's bus GB/s", "published us", "published bus GB/s", "error",
                f"error with {NCCL_BASE_US} us", "row"], rows)


def measured_by_host(context):
    """{host: {bytes: us}} of eight A100."""
    with open(os.path.join(context.data, "nodes", "allreduce.csv")) as f:
        rows = [r for r in csv.DictReader(f) if r["system"].startswith("A100")]
    found = {host: {} for host in HOSTS}
    for r in rows:
        one = r["source"].startswith("idx:69473998636")  # all of the source's rows, though only the first says so
        found["one thread" if one else "a thread for each GPU"][int(r["size_B"])] = float(r["time_us_oop"])
    return found


def write_small(context, page):
    rows = []
    published = {("dgx_a100", 8, host): times for host, times in measured_by_host(context).items()}
    published.update({("hgx_a100_4", 4, host): {b: t[0] for b, t in measured_a100_4(context).items()} for host in HOSTS})
    for (system, gpus, host), times in published.items():
        for chunk in SMALL:
            size = chunk * gpus * 4
            known = size if chunk > 1 else 8  # the least that it can do stands for 8 bytes
            us = in_a_row(context, system, gpus, gpus if host != "one thread" else 1, chunk)
            there = times.get(known)
            errors = [verdict(t, there, there, 0.25)[0] for t in (us, us + NCCL_BASE_US)] if there else ["-", "-"]
            name = "A100-SXM4-80GB" if gpus == 8 else "A100-4x"
            rows.append([system, host, f"{known:,}", f"{us:.1f}", f"{there:.1f}" if there else "-", *errors,
                         ("check" if is_check(f"{name}+{gpus}+{known}") else "derive") if there else ""])
    page.text("Small messages as nccl-tests measures them: the time of one all-reduce among many launched in a row, here what each further",
              "one adds (`allreduce_rings ELEMENTS 1 1 CALLS THREADS`). It includes the host's calls of `launch.call_ns` each: one after",
              "another if one thread launches on all GPUs, concurrently if each GPU has its own thread, which stands for its own process. For",
              "eight GPUs, one source used one process, the other one process per GPU; the source for four GPUs does not say.")
    page.table(["system", "host", "bytes", "simulated us", "published us", "error", f"error with {NCCL_BASE_US} us", "row"], rows)


# Memory by peer access and not by handles that are mapped several times; sockets for the set-up only.
NCCL_VARIABLES = {"NCCL_CUMEM_ENABLE": "0", "NCCL_SOCKET_IFNAME": "lo"}
NCCL_SIZES = [8, 1024, 16384, 65536, 262144, 1048576]  # of four GPUs; fewer of two (the same path) and eight (minutes each)
# GPUs of a DGX A100: us of 8 to 128 bytes, Ring, one channel, one process (NVIDIA/nccl-tests#123).
NCCL_RING = {2: 10.0, 3: 13.76, 4: 16.88, 5: 20.8, 6: 25.2, 7: 29.5, 8: 33.7}


def nccl_topology(gpus):
    """NCCL's description of GPUs that have four links to each other: it would look up on the host what a link leads to."""
    lines = ['<system version="1">', '<cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">']
    for gpu in range(gpus):
        lines.append(f'<pci busid="0000:{gpu + 1:02x}:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">')
        lines.append(f'<gpu dev="{gpu}" sm="80" gdr="1">')
        lines += [f'<nvlink target="0000:{peer + 1:02x}:00.0" count="4" tclass="0x030200"/>' for peer in range(gpus) if peer != gpu]
        lines += ["</gpu>", "</pci>"]
    return "\n".join([*lines, "</cpu>", "</system>", ""])


def nccl_times(context, system, gpus, sizes, variables=None):
    """{bytes: us}"""
    program = os.path.join(context.programs.folder, "nccl_allreduce")
    command = [context.program, "exec", "-q", "-c", system, "--gpus", str(gpus), "--", program, str(gpus), "1", *map(str, sizes)]
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as topology:
        topology.write(nccl_topology(gpus))
        topology.flush()
        direct = {"NCCL_TOPO_FILE": topology.name} if system == "hgx_a100_4" else {}
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, **NCCL_VARIABLES, **direct, **(variables or {})}).stdout
    return {int(size): float(us) for size, us in re.findall(r"^(\d+) bytes: ([\d.]+) us$", text, re.M)}


def write_nccl(context, page):
    if not os.path.exists(os.path.join(context.programs.folder, "nccl_allreduce")):
        return
    rows = []
    for system, gpus, sizes, measured, name in (
            ("dgx_a100", 8, NCCL_SIZES[:3], measured_a100_8(context), "A100-SXM4-80GB"),
            ("hgx_a100_4", 4, NCCL_SIZES, measured_a100_4(context), "A100-4x"),
            ("hgx_a100_4", 2, NCCL_SIZES[:4], measured_a100_4(context, 2), "A100-4x")):
        for size, us in sorted(nccl_times(context, system, gpus, sizes).items()):
            published = measured[size]
            rows.append([system, gpus, "NCCL's choice", f"{size:,}", f"{us:.2f}", " / ".join(f"{t:.1f}" for t in published),
                         verdict(us, min(published), max(published), 0.25)[0],
                         "check" if is_check(f"{name}+{gpus}+{size}") else "derive"])
    ring = {"NCCL_ALGO": "Ring", "NCCL_PROTO": "LL", "NCCL_MAX_NCHANNELS": "1"}
    for gpus, published in NCCL_RING.items():
        us = nccl_times(context, "dgx_a100", gpus, [8], ring)[8]
        rows.append(["dgx_a100", gpus, "Ring, LL, one channel", "8", f"{us:.2f}", f"{published:.1f}",
                     verdict(us, published, published, 0.25)[0], "check" if is_check(f"nccl-tests#123+{gpus}") else "derive"])
    page.text("NCCL 2.27.7 itself, unmodified, built for sm_80 with PTX: the time of one all-reduce by events. Published times",
              "are per call of many, by the host's clock; here one thread launches for all GPUs, `launch.call_ns` each.")
    page.table(["system", "GPUs", "algorithm", "bytes", "simulated us", "published us", "error", "row"], rows)


def write(context, page):
    write_point_to_point(context, page)
    page.text("All-reduce, `examples/multi_gpu`, in three forms: a ring by one kernel on each GPU (`allreduce_rings`) in which each word carries",
              "its own flag (words); the same moving 16 bytes at once and then setting a flag (quads); and copies between kernels",
              "(`allreduce_copy`). Times in brackets are extrapolated from the last two sizes. A chunk has at least one element, so the row of",
              "8 bytes has 32 and 16 bytes here. The two errors are those of the fastest form, and",
              f"of the same plus {NCCL_BASE_US} us, which NCCL's own cost model adds to the hops (nccl_constants.csv: its launch and",
              "set-up; a simulated launch of some 3 us is already included, so part of it counts twice). Nothing was derived from these rows.",
              "With the assumed latency of a link, a hop of words takes 0.6 to 0.7 us; in NCCL's model 0.6 us.")
    write_all_reduce(context, page, "dgx_a100", 8, 1, measured_a100_8(context), "A100-SXM4-80GB")
    write_all_reduce(context, page, "hgx_a100_4", 4, 6, measured_a100_4(context), "A100-4x")
    write_small(context, page)
    write_nccl(context, page)
