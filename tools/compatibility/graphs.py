"""Checks of Pannotia's results against the graph that the program read: graph.gr, in the format of the DIMACS challenges."""
import collections
import heapq

RANGE = 2048  # of the values that Pannotia gives to nodes


def c_random(seed, count):
    """rand() of the GNU C library."""
    state = [seed]
    for i in range(1, 31):
        state.append(16807 * state[i - 1] % 0x7fffffff)
    state += state[:3]
    while len(state) < count + 344:
        state.append((state[-31] + state[-3]) & 0xffffffff)
    return [value >> 1 for value in state[344:344 + count]]


def _arcs(run):
    """Number of nodes, and (from, to, weight) of each arc, nodes from 0."""
    arcs, nodes = [], 0
    for line in (run / "graph.gr").read_text().splitlines():
        kind, *words = line.split()
        if kind == "p":
            nodes = int(words[1])
        elif kind == "a":
            arcs.append((int(words[0]) - 1, int(words[1]) - 1, int(words[2])))
    return nodes, arcs


def _neighbours(nodes, arcs, directed):
    near = [[] for _ in range(nodes)]
    for start, end, weight in arcs:
        near[start].append((end, weight))
        if not directed:
            near[end].append((start, weight))
    return near


def _results(run, nodes, number):
    """One number of each line of result.out, the last one."""
    lines = (run / "result.out").read_text().splitlines()
    return [number(line.split()[-1]) for line in lines] if len(lines) == nodes else None


def _differs(found, right, tolerance, what):
    for node, (ours, value) in enumerate(zip(found, right)):
        if abs(ours - value) > tolerance * max(1, abs(value)):
            return f"node {node}: {what} {ours:g}, on the CPU {value:g}"
    return ""


def cheapest(near, source=0):
    """{node: cost} from `source`, by Dijkstra's algorithm. `near[node]`: (end, weight) of each arc from there."""
    costs, waiting = {}, [(0, source)]
    while waiting:
        cost, node = heapq.heappop(waiting)
        if node not in costs:
            costs[node] = cost
            for end, weight in near[node]:
                heapq.heappush(waiting, (cost + weight, end))
    return costs


def shortest_paths(run, _output, _args):
    """Costs from node 0."""
    nodes, arcs = _arcs(run)
    costs = cheapest(_neighbours(nodes, arcs, True))
    found = _results(run, nodes, int)
    return _differs(found, [costs[node] for node in range(nodes)], 0, "cost") if found else "no costs"


def page_rank(run, _output, _args):
    """Twenty iterations with a damping factor of 0.85, edges both ways."""
    nodes, arcs = _arcs(run)
    near, rank = _neighbours(nodes, arcs, False), [1 / nodes] * nodes
    for _ in range(20):
        gain = [0.0] * nodes
        for node, ends in enumerate(near):
            for end, _ in ends:
                gain[end] += rank[node] / len(ends)
        rank = [0.15 / nodes + 0.85 * value for value in gain]
    found = _results(run, nodes, float)  # of six digits after the point
    return _differs(found, rank, 1e-6, "rank") if found else "no ranks"


def betweenness(run, _output, _args):
    """Betweenness centrality, by Brandes' algorithm in double precision."""
    nodes, arcs = _arcs(run)
    near, centrality = _neighbours(nodes, arcs, True), [0.0] * nodes
    for source in range(nodes):
        paths, depth, order, waiting = [0.0] * nodes, {source: 0}, [], collections.deque([source])
        paths[source] = 1
        while waiting:
            node = waiting.popleft()
            order.append(node)
            for end, _ in near[node]:
                if end not in depth:
                    depth[end] = depth[node] + 1
                    waiting.append(end)
                if depth[end] == depth[node] + 1:
                    paths[end] += paths[node]
        share = [0.0] * nodes
        for node in reversed(order):
            share[node] = sum(paths[node] / paths[end] * (1 + share[end])
                              for end, _ in near[node] if depth[end] == depth[node] + 1)
            if node != source:
                centrality[node] += share[node]
    found = _results(run, nodes, float)
    return _differs(found, centrality, 1e-3, "centrality") if found else "no centralities"


def _conflict(near, values, bad):
    """A pair of neighbours that `bad` is true of. The programs choose by values of nodes, and know no way to tell equal
    ones apart."""
    return next(((node, end) for node, ends in enumerate(near) for end, _ in ends
                 if bad(node, end) and values[node] != values[end]), None)


def colouring(run, _output, _args):
    """Each node has a colour, and neighbours have not the same."""
    nodes, arcs = _arcs(run)
    found = _results(run, nodes, int)
    if not found or min(found) < 1:
        return "not all nodes have a colour"
    values = [value % RANGE for value in c_random(7, nodes)]
    pair = _conflict(_neighbours(nodes, arcs, False), values, lambda node, end: found[node] == found[end])
    return f"nodes {pair[0]} and {pair[1]} are neighbours of the same colour" if pair else ""


def independent_set(run, _output, _args):
    """No two nodes of the set are neighbours, and each other node has a neighbour in it."""
    nodes, arcs = _arcs(run)
    found = _results(run, nodes, int)
    if not found:
        return "no set"
    near, values = _neighbours(nodes, arcs, False), [value % RANGE for value in c_random(7, nodes)]
    chosen = [value == 2 for value in found]
    pair = _conflict(near, values, lambda node, end: chosen[node] and chosen[end])
    if pair:
        return f"nodes {pair[0]} and {pair[1]} of the set are neighbours"
    alone = [node for node in range(nodes) if not chosen[node] and not any(chosen[end] for end, _ in near[node])]
    return f"node {alone[0]} could be added to the set" if alone else ""
