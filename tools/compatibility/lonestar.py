"""Checks of LonestarGPU's results against the graph that the program read: graph.gr, in Galois's binary format. What a program
writes of each node is in the file `out`."""
import collections
import re
import struct

from . import graphs


def _graph(run):
    """[(target, weight) of each edge] of each node; each edge is there in both directions."""
    data = (run / "graph.gr").read_bytes()
    _, _, nodes, edges = struct.unpack_from("<4Q", data)
    last = struct.unpack_from(f"<{nodes}Q", data, 32)
    at = 32 + 8 * nodes
    ends = struct.unpack_from(f"<{edges}I", data, at)
    weights = struct.unpack_from(f"<{edges}I", data, at + 4 * (edges + edges % 2))
    pairs = list(zip(ends, weights))
    return [pairs[first:end] for first, end in zip((0, *last), last)]


def _of_nodes(run, nodes, number):
    """The second number of each line "NODE NUMBER"; nothing if it is not one line for each node."""
    rows = [line.split() for line in (run / "out").read_text().splitlines() if not line.startswith("\t")]
    return [number(row[1]) for row in rows] if [row[0] for row in rows] == [str(node) for node in range(nodes)] else []


def _differs(found, right, tolerance):
    if not found:
        return "not a value for each node"
    for node, (ours, value) in enumerate(zip(found, right)):
        if abs(ours - value) > tolerance:
            return f"node {node}: {ours:g}, on the CPU {value:g}"
    return ""


def _costs(run, near):
    costs = graphs.cheapest(near)
    return _differs(_of_nodes(run, len(near), int), [costs[node] for node in range(len(near))], 0)


def edge_distances(run, _output, _args):
    """Numbers of edges from node 0."""
    return _costs(run, [[(end, 1) for end, _ in ends] for ends in _graph(run)])


def distances(run, _output, _args):
    """Costs from node 0."""
    return _costs(run, _graph(run))


def _component(near, start):
    seen, waiting = {start}, collections.deque([start])
    while waiting:
        for end, _ in near[waiting.popleft()]:
            if end not in seen:
                seen.add(end)
                waiting.append(end)
    return seen


def components(run, output, _args):
    """Two nodes have the same number if a path joins them; the printed number of components is right."""
    near = _graph(run)
    found, left, count = _of_nodes(run, len(near), int), set(range(len(near))), 0
    while found and left:
        members = _component(near, min(left))
        if len({found[node] for node in members}) != 1:
            return f"the nodes joined to {min(left)} have several numbers"
        left -= members
        count += 1
    said = re.search(r"components: (\d+)", output)
    if not found or not said or int(said.group(1)) != count or len(set(found)) != count:
        return f"not {count} components"
    return ""


def independent(run, _output, _args):
    """No two nodes of the set are neighbours, and each other node has a neighbour in it."""
    near = _graph(run)
    count, *chosen = map(int, (run / "out").read_text().split())
    inside = set(chosen)
    for node, ends in enumerate(near):
        joined = any(end in inside for end, _ in ends)
        if (node in inside) == joined:
            return f"node {node} {'and a neighbour are both in the set' if joined else 'could be added to the set'}"
    return "" if count == len(inside) else f"{count} nodes, and {len(inside)} are listed"


def ranks(run, _output, _args):
    """PageRank with a damping factor of 0.85, not divided by the number of nodes."""
    near = _graph(run)
    rank = [1.0] * len(near)
    for _ in range(200):
        gain = [0.15] * len(near)
        for node, ends in enumerate(near):
            for end, _ in ends:
                gain[end] += 0.85 * rank[node] / len(ends)
        rank = gain
    return _differs(_of_nodes(run, len(near), float), rank, 1e-3)


def spanning_tree(run, output, _args):
    """The printed weight is that of a minimum spanning forest, by Kruskal's algorithm."""
    near = _graph(run)
    root = list(range(len(near)))

    def find(node):
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    total = 0
    for weight, start, end in sorted((weight, start, end) for start, ends in enumerate(near) for end, weight in ends):
        one, other = find(start), find(end)
        if one != other:
            root[one] = other
            total += weight
    said = re.search(r"final mstwt: (\d+)", output)
    return "" if said and int(said.group(1)) == total else f"the lightest tree weighs {total}"


def triangles(run, output, _args):
    """The printed number of triangles."""
    near = [{end for end, _ in ends} for ends in _graph(run)]
    count = sum(len(near[node] & near[end]) for node in range(len(near)) for end in near[node]) // 6
    said = re.search(r"triangles: (\d+)", output)
    return "" if said and int(said.group(1)) == count else f"there are {count} triangles"
