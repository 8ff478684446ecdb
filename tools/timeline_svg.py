#!/usr/bin/env python3
"""A timeline of `lockstep run --timeline FILE` as an SVG picture.

  tools/timeline_svg.py TIMELINE.json OUT.svg [FIRST_US LAST_US]

One row for each thread of the file, spans as boxes, instants as strokes; without a range the whole run.
"""

import html

import command_line
from command_line import Failure

WIDTH, LEFT, ROW, GAP, TOP = 1000, 170, 26, 8, 16
COLOURS = {
    "migration": "#3b7dd8", "prefetch": "#8fb8ee", "write-back": "#d8743b", "batch": "#7a5fb5", "far fault": "#c0392b",
    "clean drop": "#999999", "fault handling": "#b5a15f", "host_to_device": "#2f9e7a", "device_to_host": "#2f9e7a",
    "synchronise": "#555555",
}
KERNEL = "#4c9a2a"


def rows_of(events):
    """Thread ids in the order of their first mention, with their names; those without events are left out."""
    names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    used = {e["tid"] for e in events if e["ph"] != "M"}
    return [(tid, name) for tid, name in sorted(names.items()) if tid in used]


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
    rows = rows_of(events)
    place = {tid: TOP + i * (ROW + GAP) for i, (tid, _) in enumerate(rows)}
    scale = (WIDTH - LEFT - 10) / (last - first)
    x = lambda t: LEFT + (min(max(t, first), last) - first) * scale
    height = TOP + len(rows) * (ROW + GAP) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for tid, name in rows:
        y = place[tid]
        out.append(f'<rect x="{LEFT}" y="{y}" width="{WIDTH - LEFT - 10}" height="{ROW}" fill="#f4f4f4"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 17}" text-anchor="end">{html.escape(name)}</text>')
    for e in events:
        if e["ph"] == "M" or e["ts"] > last or e["ts"] + e.get("dur", 0) < first:
            continue
        y, colour = place[e["tid"]], COLOURS.get(e["name"], KERNEL)
        if e["ph"] == "X":
            begin, end = x(e["ts"]), x(e["ts"] + e["dur"])
            out.append(f'<rect x="{begin:.2f}" y="{y + 2}" width="{max(end - begin, 0.4):.2f}" height="{ROW - 4}" '
                       f'fill="{colour}"><title>{html.escape(e["name"])}</title></rect>')
            if end - begin > 8 * len(e["name"]):
                out.append(f'<text x="{(begin + end) / 2:.2f}" y="{y + 17}" text-anchor="middle" fill="white">'
                           f'{html.escape(e["name"])}</text>')
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
        named = isinstance(event, dict) and {"ph", "tid"} <= event.keys()
        if not named or not ({"args"} if event["ph"] == "M" else {"ts", "name"}) <= event.keys():
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
