#!/usr/bin/env python3
"""A timeline of `lockstep run --timeline FILE` as an SVG picture.

  tools/timeline_svg.py TIMELINE.json OUT.svg [FIRST_US LAST_US]

One row for each thread of the file that has anything in the range, spans as boxes, instants as strokes; without a range the whole run.
"""

import html

import command_line
from command_line import Failure

WIDTH, ROW, GAP, TOP = 1000, 26, 8, 16
COLOURS = {
    "migration": "#3b7dd8", "prefetch": "#8fb8ee", "write-back": "#d8743b", "batch": "#7a5fb5", "far fault": "#c0392b",
    "clean drop": "#999999", "fault handling": "#b5a15f", "host_to_device": "#2f9e7a", "device_to_host": "#2f9e7a",
    "synchronise": "#555555",
    # Stages of a network operation, named after their ends.
    "issued": "#3b7dd8", "rung": "#d8743b", "fetched": "#7a5fb5", "sent": "#2f9e7a", "complete": "#b5a15f", "noticed": "#c0392b", "finished": "#555555",
    "written": "#8fb8ee", "visible": "#e6b08f", "seen": "#bbbbbb", "returned": "#999999",
}
KERNEL = "#4c9a2a"


def row_of(event):
    return event.get("pid"), event["tid"]


def rows_of(events, first, last):
    """Threads in the order of their ids, with their names, and those of their processes where there are several; those without events are left out."""
    threads = {row_of(e): e["args"]["name"] for e in events if e["ph"] == "M" and "tid" in e}
    processes = {e["pid"]: e["args"]["name"].split(":")[0] for e in events if e["ph"] == "M" and "tid" not in e}
    used = {row_of(e) for e in events if e["ph"] != "M" and in_range(e, first, last)}
    prefix = lambda pid: f"{processes[pid]}: " if len(processes) > 1 and pid in processes else ""
    return [(row, prefix(row[0]) + name) for row, name in sorted(threads.items(), key=lambda item: item[0][1]) if row in used]


def in_range(event, first, last):
    return event["ts"] <= last and event["ts"] + event.get("dur", 0) >= first


def label(name, width):
    """The name, or its last word, as far as there is room."""
    return next((text for text in (name, name.split()[-1]) if 7.5 * len(text) < width), None)


def ticks(first, last):
    """About eight round numbers of microseconds."""
    step = 1e-3
    while (last - first) / step > 8:
        step *= 2.5 if str(step).lstrip("0.").startswith("2") else 2
    at = -(-first // step) * step
    while at <= last:
        yield at
        at += step


def draw(events, first, last):
    rows = rows_of(events, first, last)
    left = max([170] + [20 + int(6.5 * len(name)) for _, name in rows])
    place = {row: TOP + i * (ROW + GAP) for i, (row, _) in enumerate(rows)}
    scale = (WIDTH - left - 10) / (last - first)
    x = lambda t: left + (min(max(t, first), last) - first) * scale
    height = TOP + len(rows) * (ROW + GAP) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for row, name in rows:
        y = place[row]
        out.append(f'<rect x="{left}" y="{y}" width="{WIDTH - left - 10}" height="{ROW}" fill="#f4f4f4"/>')
        out.append(f'<text x="{left - 8}" y="{y + 17}" text-anchor="end">{html.escape(name)}</text>')
    for e in events:
        if e["ph"] == "M" or not in_range(e, first, last):
            continue
        y, colour = place[row_of(e)], COLOURS.get(e["name"], COLOURS.get(e["name"].split()[-1], KERNEL))
        if e["ph"] == "X":
            begin, end = x(e["ts"]), x(e["ts"] + e["dur"])
            out.append(f'<rect x="{begin:.2f}" y="{y + 2}" width="{max(end - begin, 1):.2f}" height="{ROW - 4}" '
                       f'fill="{colour}"><title>{html.escape(e["name"])}</title></rect>')
            if text := label(e["name"], end - begin):
                out.append(f'<text x="{(begin + end) / 2:.2f}" y="{y + 17}" text-anchor="middle" fill="white">'
                           f'{html.escape(text)}</text>')
        else:
            out.append(f'<line x1="{x(e["ts"]):.2f}" y1="{y + 2}" x2="{x(e["ts"]):.2f}" y2="{y + ROW - 2}" '
                       f'stroke="{colour}"/>')
    base = TOP + len(rows) * (ROW + GAP)
    for at in ticks(first, last):
        out.append(f'<line x1="{x(at):.2f}" y1="{TOP}" x2="{x(at):.2f}" y2="{base}" stroke="#dddddd"/>')
        out.append(f'<text x="{x(at):.2f}" y="{base + 14}" text-anchor="middle">{at:g} us</text>')
    return "\n".join(out + ["</svg>", ""])


def read_events(path):
    """The events of a timeline, those of the machine's names among them."""
    content = command_line.read_json(path)
    events = content.get("traceEvents") if isinstance(content, dict) else None
    if not isinstance(events, list):
        raise Failure(f"{path}: no traceEvents: expected what `lockstep run --timeline` writes")
    for event in events:
        named = isinstance(event, dict) and "ph" in event
        if not named or not ({"args", "name"} if event["ph"] == "M" else {"ts", "name", "tid"}) <= event.keys():
            raise Failure(f"{path}: an event without its fields: expected what `lockstep run --timeline` writes")
    return events


def main():
    parser = command_line.Parser(__doc__)
    parser.add_argument("timeline", metavar="TIMELINE.json", type=command_line.file)
    parser.add_argument("out", metavar="OUT.svg")
    parser.add_argument("range", metavar="FIRST_US LAST_US", nargs="*", type=float, help="microseconds; default: the whole run")
    arguments = parser.parse_args()
    if len(arguments.range) not in (0, 2):
        parser.error("FIRST_US LAST_US: expected both or none")
    events = read_events(arguments.timeline)
    ends = [e["ts"] + e.get("dur", 0) for e in events if e["ph"] != "M"]
    if not ends:
        raise Failure(f"{arguments.timeline}: no events")
    first, last = arguments.range or (0.0, max(ends))
    if not first < last:
        raise Failure("the range is empty")
    with open(arguments.out, "w") as file:
        file.write(draw(events, first, last))


if __name__ == "__main__":
    command_line.run(main)
