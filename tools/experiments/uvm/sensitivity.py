#!/usr/bin/env python3
"""nw with device memory a little smaller and larger than 110 %: how much one point of such a curve says."""
import lab
import plot

PAIRS = (("none", "sequential"), ("none", "tbn"), ("sequential", "sequential"), ("tbn", "tbn"))
PUBLISHED = (96000, 153000, 12100, 23400)  # us, at 110 % (ISCA 2019)
PAGES = (-64, -32, -16, 0, 16, 32)  # more or less than at 110 %
LATENCIES = (118, 122, 124)  # of the L2, in cycles; 120 with UVMSmart


def main(lab_):
    trace, middle = lab_.trace("nw"), lab_.memory_of("nw", 110)
    rows, series, all_times = [], {f"{after} + {evictor}": [] for after, evictor in PAIRS}, []
    for pages, latency in [(p, None) for p in PAGES] + [(0, cycles) for cycles in LATENCIES]:
        machine = lab.SMART + ([f"l2.latency = {latency}"] if latency else [])
        times = [lab_.run(trace, machine, middle + pages * 4096 / 2 ** 20, prefetcher="tbn", prefetcher_oversubscribed=after,
                          evictor=evictor).us for after, evictor in PAIRS]
        all_times.append(times)
        if not latency:
            for name, us in zip(series, times):
                series[name].append((pages, us))
        rows.append([f"{pages:+d}" + (f", L2 of {latency} cycles" if latency else ""), *[f"{us:.0f}" for us in times]])
    rows.append(["published", *PUBLISHED])
    spans = [f"{name} {max(column) / min(column):.1f}" for name, column in zip(series, zip(*all_times))]
    lab_.table("sensitivity", [
        "nw: time in us with some pages more or less than at 110 % (1,891 pages), or an L2 some cycles faster or slower. There the",
        f"working set of the middle kernels just stops fitting. Most over least time: {', '.join(spans)}. nw's logs, with the size of",
        "the memory, cannot be read: one published point of nw is no measure of an evictor with neighbourhoods."],
               ["pages", *series], rows)
    plot.lines(lab_.plot("sensitivity"), "nw around 110 %", "us", "pages more than at 110 %", series, logarithmic=True)


if __name__ == "__main__":
    lab.start(main, __doc__)
