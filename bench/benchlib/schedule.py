"""A run's windows laid out on more threads, as the engine (src/sim/engine.cpp) shares them.

A window is its serial part and its items (tasks of decoding, and domains that are awake), with the seconds of each on
one thread, from `lockstep run --work-log`.
"""
import collections
import heapq

# The engine's rule of when a window is worth sharing: the smoothed work of a window, in seconds.
SHARE_ABOVE, ALONE_BELOW, SMOOTHING = 10e-6, 5e-6, 8
# Its order of domains: the longest first, as measured periodically, smoothed likewise.
SAMPLE_EVERY, COST_SMOOTHING = 8, 2
TASK = -1

# items: pairs of a domain's id, or TASK, and seconds.
Window = collections.namedtuple("Window", "serial items")
# Seconds: serial and alone are those of the leader only; work is that of shared windows on one thread, span their
# length on N threads, without the barriers.
Layout = collections.namedtuple("Layout", "serial alone work span shared_windows")


def parse(line):
    """(serial, ids, nanoseconds of each)"""
    serial, *items = line.split()
    pairs = [item.rpartition(":") for item in items]
    return int(serial), tuple(int(key) if key else TASK for key, _, _ in pairs), [int(ns) for _, _, ns in pairs]


def read(paths):
    """One run's windows from the logs of repeated runs: of each part the shortest time, which other programs on the
    machine disturbed least. The runs are deterministic, so their logs have the same shape."""
    logs = []
    for path in paths:
        with open(path) as f:
            logs.append([parse(line) for line in f])
    if len({tuple(ids for _, ids, _ in log) for log in logs}) != 1:
        raise ValueError("work logs of one trace differ in shape")
    windows = []
    for lines in zip(*logs):
        shortest = [min(times) * 1e-9 for times in zip(*(times for _, _, times in lines))]
        windows.append(Window(min(line[0] for line in lines) * 1e-9, list(zip(lines[0][1], shortest))))
    return windows


def shares(items, threads):
    """Seconds of the items of each thread, in its order: domains belong to the threads in turn. (The engine hands out
    tasks to whoever is free; here they are dealt out.)"""
    dealt = [[] for _ in range(threads)]
    for number, (key, took) in enumerate(items):
        dealt[(number if key == TASK else key) % threads].append(took)
    return dealt


def static_span(items, threads):
    return max(map(sum, shares(items, threads)))


def dynamic_span(items, threads):
    """Each thread takes its own items, and then one by one from the share that has most left."""
    free = [(0.0, thread) for thread in range(threads)]
    left = [share[::-1] for share in shares(items, threads)]
    span = 0.0
    while free:
        time, thread = free[0]
        others = ((thread + i) % threads for i in range(1, threads))
        part = thread if left[thread] else max(others, key=lambda p: len(left[p]), default=thread)
        if left[part]:
            heapq.heapreplace(free, (time + left[part].pop(), thread))
        else:
            span = max(span, heapq.heappop(free)[0])
    return span


SPANS = {"static": static_span, "dynamic": dynamic_span}


class Order:
    """Tasks, then domains by their cost as it is known."""

    def __init__(self):
        self.cost, self.rank = collections.defaultdict(float), {}

    def of(self, items):
        return sorted(items, key=lambda item: (item[0] != TASK, self.rank.get(item[0], item[0])))

    def learn(self, items):
        for key, took in items:
            if key != TASK:
                self.cost[key] += (took - self.cost[key]) / COST_SMOOTHING

    def sort(self):
        ids = sorted(self.cost, key=lambda key: (-self.cost[key], key))
        self.rank = {key: place for place, key in enumerate(ids)}


def lay_out(windows, threads, schedule):
    serial = alone = work = span = estimate = 0.0
    sharing, shared_windows, order = False, 0, Order()
    for number, window in enumerate(windows):
        serial += window.serial
        total = sum(took for _, took in window.items)
        shared = sharing and len(window.items) > 1 and threads > 1
        if shared:
            work += total
            items = order.of(window.items) if schedule == "dynamic" else window.items
            span += SPANS[schedule](items, threads)
            shared_windows += 1
        else:
            alone += total
        if number % SAMPLE_EVERY == 0:
            order.learn(window.items)
            if shared:
                order.sort()
        estimate += (total - estimate) / SMOOTHING
        sharing = estimate > (ALONE_BELOW if sharing else SHARE_ABOVE)
    return Layout(serial, alone, work, span, shared_windows)


def imbalance(layout, threads):
    """Length of the shared windows over that of evenly divided ones."""
    return threads * layout.span / layout.work if layout.work > 0 else 1.0
