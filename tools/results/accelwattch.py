"""Reads the tables that AccelWattch (Kandiah et al., MICRO 2021) publishes for a Quadro GV100: util/accelwattch of the public
accel-sim-framework, files hw_perf.csv and hw_power_validation_volta.csv of accelwattch_hw_profiler, and AccelWattch_graphs.xlsx.
"""
import collections
import csv
import os
import re
import zipfile
from xml.etree import ElementTree

from command_line import Failure

# Core clock of AccelWattch's simulations, in Hz: SM7_QV100/gpgpusim.config, branch release-accelwattch of the public
# gpgpu-sim_distribution.
CLOCK = 1447e6

# Sheets of AccelWattch_graphs.xlsx by name: HW is worked out from hardware counters, SIM from Accel-Sim's.
SHEETS = {"HW": "Volta_HW", "SIM": "Volta_SASS_SIM"}
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

# A validation kernel: its name in hw_power_validation_volta.csv and in the sheets; benchmark and part of the kernel's name in
# hw_perf.csv, which lacks pathfinder.
Kernel = collections.namedtuple("Kernel", "name sheet benchmark kernel")
KERNELS = [
    Kernel("backprop_k1", "backprop-rodinia-3.1_k1", "backprop-rodinia-3.1", "layerforward"),
    Kernel("backprop_k2", "backprop-rodinia-3.1_k2", "backprop-rodinia-3.1", "adjust_weights"),
    Kernel("binomialOptions_k1", "binomialOptions_k1", "binomialOptions", "binomialOptionsKernel"),
    Kernel("btree_k1", "b+tree-rodinia-3.1_k1", "b+tree-rodinia-3.1", "findRangeK"),
    Kernel("btree_k2", "b+tree-rodinia-3.1_k2", "b+tree-rodinia-3.1", "findK"),
    Kernel("cudaTensorCoreGemm_k1", "cudaTensor_k1", "cudaTensorCoreGemm", "compute_gemm"),
    Kernel("cutlass_k1", "cutlass_k1", "cutlass_perf_test_k1", "gemm"),
    Kernel("cutlass_k2", "cutlass_k2", "cutlass_perf_test_k2", "gemm"),
    Kernel("cutlass_k3", "cutlass_k3", "cutlass_perf_test_k3", "gemm"),
    Kernel("dct8x8_k1", "dct8x8_k1", "dct8x8", "CUDAkernel1DCT"),
    Kernel("dct8x8_k2", "dct8x8_k2", "dct8x8", "CUDAkernel2DCT"),
    Kernel("fastWalshTransform_k1", "fastWalshTransform_k1", "fastWalshTransform", "fwtBatch2Kernel"),
    Kernel("fastWalshTransform_k2", "fastWalshTransform_k2", "fastWalshTransform", "fwtBatch1Kernel"),
    Kernel("histogram_k1", "histogram_k1", "histogram", "histogram64Kernel"),
    Kernel("hotspot_k1", "hotspot-rodinia-3.1_k1", "hotspot-rodinia-3.1", "calculate_temp"),
    Kernel("kmeans_k1", "kmeans-rodinia-3.1_k1", "kmeans-rodinia-3.1", "kmeansPoint"),
    Kernel("mergeSort_k1", "mergeSort_k1", "mergeSort", "mergeElementaryIntervalsKernel"),
    Kernel("mergeSort_k2", "mergeSort_k2", "mergeSort", "mergeSortSharedKernel"),
    Kernel("parboil_mriq_k1", "parboil-mri-q_k1", "parboil-mri-q", "ComputeQ"),
    Kernel("parboil_sad_k1", "parboil-sad_k1", "parboil-sad", "mb_sad_calc"),
    Kernel("parboil_sgemm_k1", "parboil-sgemm_k1", "parboil-sgemm", "mysgemmNT"),
    Kernel("pathfinder_k1", "pathfinder-rodinia-3.1_k1", None, "dynproc"),
    Kernel("quasirandomGenerator_k1", "quasirandomGenerator_k1", "quasirandomGenerator", "quasirandomGeneratorKernel"),
    Kernel("quasirandomGenerator_k2", "quasirandomGenerator_k2", "quasirandomGenerator", "inverseCNDKernel"),
    Kernel("sobolQRNG_k1", "sobolQRNG_k1", "sobolQRNG", "sobolGPU_kernel"),
    Kernel("srad_v1_k1", "srad_v1-rodinia-3.1_k1", "srad_v1-rodinia-3.1", "srad"),
]


def measured(folder):
    """Kernel to the power measured, in W."""
    with open(os.path.join(folder, "hw_power_validation_volta.csv"), newline="") as f:
        return {row[""]: float(row["mean HW_power"]) for row in csv.DictReader(f)}


def counters(folder):
    """Kernel to what the hardware counted: sectors, warp instructions, cycles."""
    with open(os.path.join(folder, "hw_perf.csv"), newline="") as f:
        rows = list(csv.DictReader(f))
    found = {}
    for k in KERNELS:
        if k.benchmark is None:
            continue
        matches = [r for r in rows if r["Benchmark"] == k.benchmark and k.kernel in r["Kernel"]]
        if len(matches) != 1:
            raise Failure(f"hw_perf.csv: expected one row of {k.benchmark}, {k.kernel}, found {len(matches)}")
        found[k.name] = {key: float(v) for key, v in matches[0].items() if key not in ("Benchmark", "Kernel")}
    return found


class Workbook:
    """The cells of AccelWattch_graphs.xlsx."""

    def __init__(self, folder):
        self.zip = zipfile.ZipFile(os.path.join(folder, "AccelWattch_graphs.xlsx"))
        strings = ElementTree.fromstring(self.zip.read("xl/sharedStrings.xml"))
        self.strings = ["".join(t.text or "" for t in item.iter(MAIN + "t")) for item in strings.findall(MAIN + "si")]

    def path(self, sheet):
        """Of the sheet's file in the archive."""
        book = ElementTree.fromstring(self.zip.read("xl/workbook.xml"))
        ids = {s.get("name"): s.get(RELATION) for s in book.iter(MAIN + "sheet")}
        relations = ElementTree.fromstring(self.zip.read("xl/_rels/workbook.xml.rels"))
        return "xl/" + {r.get("Id"): r.get("Target") for r in relations}[ids[sheet]]

    def rows(self, sheet):
        """Row number to column letters to text."""
        rows = {}
        for cell in ElementTree.fromstring(self.zip.read(self.path(sheet))).iter(MAIN + "c"):
            value = cell.find(MAIN + "v")
            if value is None:
                continue
            column, row = re.fullmatch(r"([A-Z]+)(\d+)", cell.get("r")).groups()
            text = self.strings[int(value.text)] if cell.get("t") == "s" else value.text
            rows.setdefault(int(row), {})[column] = text
        return rows


def powers(folder, variant):
    """Kernel to component ("INTP") to AccelWattch's power in W. variant: of SHEETS; HW lacks pathfinder."""
    rows = Workbook(folder).rows(SHEETS[variant])
    components = {column: name for column, name in rows[2].items() if re.fullmatch(r"[A-Z0-9_]+", name)}
    named = {}
    for number in range(3, 3 + len(KERNELS)):
        label = rows[number].get("E", "").strip()
        named[label] = {name: float(rows[number][column]) for column, name in components.items()}
    return {k.name: named[k.sheet] for k in KERNELS if k.sheet in named}
