#!/usr/bin/env python3
"""nw with device memory a little smaller and larger than 110 %: how much one point of such a curve says."""
import lab
import plot

PAIRS = (("none", "sequential"), ("none", "tbn"), ("sequential", "sequential"), ("tbn", "tbn"))
PUBLISHED = (96000, 153000, 12100, 23400)  # us, at 110 % (ISCA 2019)
PAGES = (-64, -32, -16, 0, 16, 32)  # more or less than at 110 %


def main(lab_):
    trace, middle = lab_.trace("nw"), lab_.memory_of("nw", 110)
    rows, series = [], {f"{after} + {evictor}": [] for after, evictor in PAIRS}
    for pages in PAGES:
        times = [lab_.run(trace, lab.SMART, middle + pages * 4096 / 2 ** 20, prefetcher="tbn", prefetcher_oversubscribed=after,
                          evictor=evictor).us for after, evictor in PAIRS]
        for name, us in zip(series, times):
            series[name].append((pages, us))
        rows.append([f"{pages:+d}", *[f"{us:.0f}" for us in times]])
    rows.append(["published", *PUBLISHED])
    spans = [f"{name} {max(us for _, us in points) / min(us for _, us in points):.1f}" for name, points in series.items()]
    lab_.table("sensitivity", [
        "nw: time in us with some pages more or less than at 110 % (1,891 pages). There the working set of the middle kernels just",
        f"stops fitting. Most over least time within {100 * (PAGES[-1] - PAGES[0]) / 1891:.0f} % of the memory: {', '.join(spans)};",
        "its log with the size of the memory cannot be read. One published point of nw is no measure of an evictor with neighbourhoods."],
               ["pages", *[f"{after} + {evictor}" for after, evictor in PAIRS]], rows)
    plot.lines(lab_.plot("sensitivity"), "nw around 110 %", "us", "pages more than at 110 %", series, logarithmic=True)


if __name__ == "__main__":
    lab.start(main, __doc__)
