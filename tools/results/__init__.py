"""The pages docs/results/*.md, section by section: each module of this folder that a page names writes one section.

To add a section: a module with TITLE (its heading), and write(context, page), which appends to the page; and its name in
PAGES, in the order of the page. `context` and `page` are those of common.py.
"""
import collections

# file: in docs/results. title: its heading. sections: names of modules.
PageOf = collections.namedtuple("PageOf", "file title sections")

PAGES = [
    PageOf("kernels.md", "Kernels and programs",
           ["real_traces", "ffma", "small_kernels", "launches", "polybench", "rodinia", "sgemm_ladder", "h100_gemm",
            "cutlass_hopper", "fa3", "sst_runs"]),
    PageOf("sm.md", "The SM", ["sm"]),
    PageOf("memory.md", "Caches and DRAM", ["derived", "chase", "replacement", "bandwidth", "stream", "sweeps"]),
    PageOf("accelsim.md", "Beside Accel-Sim", ["accelsim"]),
    PageOf("managed.md", "Managed memory", ["uvm"]),
    PageOf("managed-programs.md", "Managed memory: UVMSmart's programs", ["uvm_public"]),
    PageOf("links.md", "Links between GPUs", ["links"]),
    PageOf("speed.md", "Speed of the simulator", ["speed", "forms", "threads", "exec"]),
]

SECTIONS = [section for page in PAGES for section in page.sections]
