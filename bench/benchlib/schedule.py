"""A run's windows laid out on more threads, as the engine (src/sim/engine.cpp) shares them.

A window is its serial part and its items (domains that are awake, tasks of decoding), with the seconds of each on one
thread, from `lockstep run --work-log`.
"""
import collections
import heapq

# The engine's rule of when a window is worth sharing: the smoothed work of a window, in seconds.
SHARE_ABOVE, ALONE_BELOW, SMOOTHING = 10e-6, 5e-6, 8

Window = collections.namedtuple("Window", "serial items")
# Seconds: serial and alone are those of the leader only; work is that of shared windows on one thread, span their
# length on N threads, without the barriers.
Layout = collections.namedtuple("Layout", "serial alone work span shared_windows")


def read(paths):
    """One run's windows from the logs of repeated runs: of each part the shortest time, which other programs on the
    machine disturbed least. The runs are deterministic, so their logs have the same shape."""
    logs = []
    for path in paths:
        with open(path) as f:
            logs.append([[int(field) for field in line.split()] for line in f])
    shapes = {tuple(map(len, log)) for log in logs}
    if len(shapes) != 1:
        raise ValueError("work logs of one trace differ in shape")
    shortest = [[min(parts) for parts in zip(*lines)] for lines in zip(*logs)]
    return [Window(line[0] * 1e-9, [ns * 1e-9 for ns in line[1:]]) for line in shortest]


def static_span(items, threads):
    """Domains belong to the threads in turn."""
    return max(sum(items[t::threads]) for t in range(threads))


def dynamic_span(items, threads):
    """Each thread takes its own items, and then what is left of the next threads'. (The engine hands out tasks of
    decoding before the domains; here they are items like them.)"""
    free = [(0.0, thread) for thread in range(threads)]
    left = [list(reversed(items[t::threads])) for t in range(threads)]
    span = 0.0
    while free:
        time, thread = free[0]
        part = next((p for p in ((thread + i) % threads for i in range(threads)) if left[p]), None)
        if part is None:
            span = max(span, heapq.heappop(free)[0])
        else:
            heapq.heapreplace(free, (time + left[part].pop(), thread))
    return span


SPANS = {"static": static_span, "dynamic": dynamic_span}


def lay_out(windows, threads, schedule):
    serial = alone = work = span = estimate = 0.0
    sharing, shared_windows = False, 0
    for window in windows:
        serial += window.serial
        total = sum(window.items)
        if sharing and len(window.items) > 1 and threads > 1:
            work += total
            span += SPANS[schedule](window.items, threads)
            shared_windows += 1
        else:
            alone += total
        estimate += (total - estimate) / SMOOTHING
        sharing = estimate > (ALONE_BELOW if sharing else SHARE_ABOVE)
    return Layout(serial, alone, work, span, shared_windows)


def imbalance(layout, threads):
    """Length of the shared windows over that of evenly divided ones."""
    return threads * layout.span / layout.work if layout.work > 0 else 1.0
