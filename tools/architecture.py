#!/usr/bin/env python3
"""Draws docs/architecture.svg: the folders of src/ in rooms, what includes what, and the way of the data of a run.

  tools/architecture.py [--out FILE]

Grey arrows are the #include lines of today, without those that follow from others: between folders of a room, and from room to room. A folder
in no room, includes in a circle (of folders or of rooms) and data that go where no #include leads are errors. `./dev docs` runs this.
"""
import collections
import html
import os
import re

import command_line

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# x, y: the corner; columns, rows: of boxes; folders: name to (column, row, what).
Room = collections.namedtuple("Room", "title colour x y columns rows folders")

WIDTH, HEIGHT = 1180, 866
BOX_W, BOX_H, STEP_X, STEP_Y, HEAD, EDGE = 124, 42, 142, 68, 36, 14

ROOMS = [
    Room("Entrances", "#eef0f4", 20, 16, 8, 1, {"cli": (3, 0, "lockstep's commands"), "api": (4, 0, "as a library")}),
    Room("Programs", "#fdf0e2", 20, 136, 2, 4, {
        "cuda": (0, 0, "CUDA's run time"), "nvml": (1, 0, "its devices"), "lower": (0, 1, "PTX to SASS"), "shmem": (1, 1, "network requests"),
        "exec": (0, 2, "executes kernels"), "messages": (1, 2, "calls of MPI"), "ptx": (0, 3, "reads PTX"),
        "libraries": (1, 3, "cuBLAS, cuFFT, ...")}),
    Room("The machine", "#e4eefb", 372, 136, 3, 6, {
        "gpu": (1, 0, "one run, all devices"), "sampling": (0, 0, "what is timed"), "ranks": (2, 0, "several processes"),
        "host": (1, 1, "streams, copies"), "core": (0, 2, "SMs, dispatcher"), "net": (2, 2, "NICs, agents"), "mem": (0, 3, "L2 slices, DRAM"),
        "link": (2, 3, "links, switches"), "icnt": (1, 4, "crossbar, ports"), "sim": (1, 5, "time, windows")}),
    Room("Studies", "#f6eafa", 866, 136, 2, 3, {
        "study": (0, 0, "sweeps"), "correlate": (1, 0, "against hardware"), "checkpoint": (0, 1, "saved state"), "plot": (1, 1, "charts"),
        "export": (0, 2, "for other simulators"), "report": (1, 2, "where time goes")}),
    Room("Statistics", "#fdeaea", 866, 406, 2, 2, {
        "stats": (0, 0, "counters, files"), "accelsim": (0, 1, "Accel-Sim's names"), "energy": (1, 1, "joules, watts")}),
    Room("Input", "#e9f5e6", 20, 606, 8, 1, {
        "synth": (0, 0, "makes traces"), "trace": (1, 0, "reads, writes traces"), "config": (3, 0, "GPUs, systems")}),
    Room("Common", "#f4f4f4", 20, 724, 8, 1, {"uvm": (1, 0, "managed memory"), "util": (3, 0, "errors, files, bits")}),
]
# The way of the data: from, to (a folder or a room), what goes there, and by how much the arrow is moved aside.
FLOWS = [("Programs", "trace", "records", 0), ("Input", "The machine", "traces, parameters", -110), ("The machine", "stats", "counters", 0),
         ("stats", "Studies", "results", 40)]


def includes():
    """Folder of src/ to the folders that its files include."""
    found = {}
    src = os.path.join(ROOT, "src")
    for name in sorted(name for name in os.listdir(src) if os.path.isdir(os.path.join(src, name))):
        mine = set()
        for folder, _, files in os.walk(os.path.join(src, name)):
            for file in files:
                if file.endswith((".hpp", ".cpp", ".inc")):
                    with open(os.path.join(folder, file), encoding="utf-8") as f:
                        mine |= set(re.findall(r'^#include "(\w+)/', f.read(), re.M))
        found[name] = mine - {name}
    return {name: {other for other in mine if other in found} for name, mine in found.items()}


def reachable(graph, start):
    """What `start` includes, directly or not."""
    seen, todo = set(), list(graph[start])
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += graph[at]
    return seen


def reduced(graph):
    """Pairs (folder, included) that do not follow from others."""
    far = {name: reachable(graph, name) for name in graph}
    for name in graph:
        if name in far[name]:
            raise command_line.Failure(f"{name} includes itself by way of others: expected dependencies of one direction")
    return [(a, b) for a in sorted(graph) for b in sorted(graph[a]) if not any(b in far[c] for c in graph[a] if c != b)], far


def size(room):
    return room.columns * STEP_X + EDGE - (STEP_X - BOX_W) + EDGE, HEAD + room.rows * STEP_Y - (STEP_Y - BOX_H) + EDGE


def rectangles():
    """Folders and rooms to (x, y, width, height)."""
    found = {}
    for room in ROOMS:
        found[room.title] = (room.x, room.y, *size(room))
        for name, (column, row, _) in room.folders.items():
            found[name] = (room.x + EDGE + column * STEP_X, room.y + HEAD + row * STEP_Y, BOX_W, BOX_H)
    return found


def overlap(a, b):
    """The middle of what two ranges (begin, length) share, or None."""
    low, high = max(a[0], b[0]), min(a[0] + a[1], b[0] + b[1])
    return (low + high) / 2 if low < high else None


def arrow(a, b, kind, aside=0):
    """From rectangle a to rectangle b: upright or level where that is possible."""
    x, y = overlap((a[0], a[2]), (b[0], b[2])), overlap((a[1], a[3]), (b[1], b[3]))
    if x is not None:
        x += aside
        ends = (x, a[1] + a[3], x, b[1]) if a[1] < b[1] else (x, a[1], x, b[1] + b[3])
    elif y is not None:
        y += aside
        ends = (a[0] + a[2], y, b[0], y) if a[0] < b[0] else (a[0], y, b[0] + b[2], y)
    else:
        down = a[1] < b[1]
        ends = (a[0] + a[2] / 2, a[1] + (a[3] if down else 0), b[0] + b[2] / 2, b[1] + (0 if down else b[3]))
    return ends, '<line class="{}" x1="{:.0f}" y1="{:.0f}" x2="{:.0f}" y2="{:.0f}" marker-end="url(#{})"/>'.format(kind, *ends, kind)


STYLE = """<style>
text { font-family: Helvetica, Arial, sans-serif; fill: #222 }
.title { font-size: 15px; font-weight: bold } .name { font-size: 15px; font-weight: bold; text-anchor: middle }
.what { font-size: 11px; text-anchor: middle; fill: #555 } .note { font-size: 12px; fill: #a04010 } .legend { font-size: 12px }
.include { stroke: #8892a0; stroke-width: 1.2 } .room { stroke: #8892a0; stroke-width: 5 } .flow { stroke: #d0561b; stroke-width: 3 }
</style>
<defs>
<marker id="include" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#8892a0"/></marker>
<marker id="room" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="3" markerHeight="3" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#8892a0"/></marker>
<marker id="flow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="4.5" markerHeight="4.5" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#d0561b"/></marker>
</defs>"""


def of_rooms(graph):
    """`graph` of folders as one of rooms, and each folder's room."""
    room_of = {name: room.title for room in ROOMS for name in room.folders}
    if sorted(room_of) != sorted(graph):
        raise command_line.Failure(f"folders of src/ and of the picture differ: {', '.join(sorted(set(room_of) ^ set(graph)))}")
    rooms = {room.title: set() for room in ROOMS}
    for name, others in graph.items():
        rooms[room_of[name]] |= {room_of[other] for other in others} - {room_of[name]}
    return rooms, room_of


def check_flows(far, room_of):
    """Data go only between rooms of which one includes the other."""
    for a, b, *_ in FLOWS:
        one, other = room_of.get(a, a), room_of.get(b, b)
        if one not in far[other] and other not in far[one]:
            raise command_line.Failure(f"the picture has data on the way from {a} to {b}, and none of these rooms includes the other")


def boxes(where):
    for room in ROOMS:
        for name, (_, _, what) in room.folders.items():
            x, y, width, height = where[name]
            yield (f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="white" stroke="#7c8696"/>'
                   f'<text class="name" x="{x + width / 2:.0f}" y="{y + 19}">{name}</text>'
                   f'<text class="what" x="{x + width / 2:.0f}" y="{y + 34}">{html.escape(what)}</text>')


def arrows(graph, where):
    rooms, room_of = of_rooms(graph)
    edges, _ = reduced(graph)
    room_edges, far = reduced(rooms)
    check_flows(far, room_of)
    out = [arrow(where[a], where[b], "include")[1] for a, b in edges if room_of[a] == room_of[b]]
    out += [arrow(where[a], where[b], "room", 60)[1] for a, b in room_edges]
    for a, b, what, aside in FLOWS:
        (x1, y1, x2, y2), line = arrow(where[a], where[b], "flow", aside)
        out.append(line)
        if what:
            out.append(f'<text class="note" x="{(x1 + x2) / 2 + (8 if x1 == x2 else -24):.0f}" y="{(y1 + y2) / 2 + (4 if x1 == x2 else -8):.0f}">{what}</text>')
    return out


def legend():
    for x, kind, what in ((20, "flow", "the way of the data of a run"), (300, "include", "a folder includes another one"), (560, "room", "a room includes another one; and what that one includes")):
        yield f'<line class="{kind}" x1="{x}" y1="842" x2="{x + 46}" y2="842" marker-end="url(#{kind})"/><text class="legend" x="{x + 56}" y="846">{what}</text>'


def draw():
    where = rectangles()
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">', STYLE,
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for room in ROOMS:
        x, y, width, height = where[room.title]
        out.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" fill="{room.colour}" stroke="#c8ccd4"/>'
                   f'<text class="title" x="{x + EDGE}" y="{y + 23}">{html.escape(room.title)}</text>')
    return "\n".join([*out, *arrows(includes(), where), *boxes(where), *legend(), "</svg>"]) + "\n"


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("--out", metavar="FILE", default=os.path.join(ROOT, "docs", "architecture.svg"), help="default docs/architecture.svg")
    arguments = parser.parse_args()
    with open(arguments.out, "w", encoding="utf-8") as f:
        f.write(draw())


if __name__ == "__main__":
    command_line.run(main)
