"""The page docs/results.md, section by section: each module of this folder that the list names writes one section.

To add a section: a module with TITLE (its heading), and write(context, page), which appends to the page; and one line
in SECTIONS, in the order of the page. `context` and `page` are those of common.py.
"""

SECTIONS = ["real_traces", "ffma", "sm", "derived", "chase", "bandwidth", "stream", "small_kernels", "launches", "accelsim", "uvm", "uvm_public",
            "polybench", "rodinia", "sst_runs", "links", "speed", "forms", "threads", "exec"]
