#!/usr/bin/env python3
"""nw (--public) with tbn for both on machines whose CTAs start, or fetch instructions, a little differently: how far that matters."""

import draws
import lab
import plot
import public_programs
import scalability

# UVMSmart's il1 is 8:128:4, without a cache or a prefetcher before it; its instructions have 8 bytes, ours 16.
SMALL_L1I = ["frontend.l0_bytes = 256", "frontend.l0_ways = 1", "frontend.l1i_bytes = 8192", "frontend.l1i_ways = 4",
             "frontend.l1i_latency = 1", "frontend.l1i_read_ahead = 0", "frontend.prefetch_entries = 0", "frontend.launch_prefetch = 0"]
MACHINES = {
    "as in all tables": [],
    "14 CTAs per cycle": ["launch.dispatch_interval_milli = 72"],
    "one CTA per cycle": ["launch.dispatch_interval_milli = 1000"],
    "UVMSmart's L1I": SMALL_L1I,
}


def main(lab_):
    if not lab_.public:
        raise lab.Failure("this experiment needs --public FOLDER")
    trace, rows, series = lab_.trace("nw"), [], {}
    published = [times["nw"] for case, (settings, _, times) in public_programs.cases().items() if settings == draws.POLICIES]
    for machine, lines in MACHINES.items():
        medians = []
        for percent, us in zip(scalability.PERCENTS, published):
            results = sorted(lab_.runs([(trace, lab.smart(cycles) + lines, lab_.memory_of("nw", percent), draws.POLICIES)
                                        for cycles in lab.LATENCIES]), key=lambda result: result.us)
            medians.append(results[len(results) // 2].us)
            rows.append([machine, f"{percent} %", *[f"{v:.0f}" for v in (results[0].us, medians[-1], results[-1].us, us)],
                         lab.difference(medians[-1], us), draws.place("nw", us, results)])
        series[machine] = list(zip(scalability.PERCENTS, medians))
    series["published"] = list(zip(scalability.PERCENTS, published))
    lab_.table("starts", [
        "nw with tbn + tbn, nine runs each as above, in us, where 14 or one of the CTAs start in a cycle and not 28, one on each SM, and where",
        "instructions come from an L1I of UVMSmart's size (`il1 8:128:4`) with nothing before it and nothing read ahead. That alone moves",
        "medians as far as they are from the published times: a simulator that is not UVMSmart's to the cycle does not settle",
        "these three to 15 %."],
               ["machine", "footprint / memory", "least", "median", "most", "published", "median against it", "published lies"], rows)
    plot.lines(lab_.plot("starts"), "nw, tbn + tbn: medians", "us", "footprint / memory, %", series, logarithmic=True)


if __name__ == "__main__":
    lab.start(main, __doc__)
