"""Plots as SVG text: groups of bars or lines, on a linear or logarithmic axis."""
import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 760, 320, 64, 48, 30, 130
COLOURS = ["#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#64b5cd", "#8c8c8c"]


def text(x, y, words, anchor="middle", size=11, extra=""):
    words = str(words).replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {extra}>{words}</text>'


class Axis:
    """Values to heights. A logarithmic axis takes positive values only."""

    def __init__(self, values, logarithmic):
        self.logarithmic = logarithmic
        if logarithmic:
            self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
            self.high = max(self.high, self.low + 1)
        else:
            self.low, self.high = 0, max(values) * 1.05 or 1

    def y(self, value):
        v = math.log10(value) if self.logarithmic else value
        return HEIGHT - BOTTOM - (v - self.low) / (self.high - self.low) * (HEIGHT - BOTTOM - TOP)

    def ticks(self):
        if self.logarithmic:
            return [10.0 ** e for e in range(self.low, self.high + 1)]
        step = 10.0 ** math.floor(math.log10(self.high))
        while self.high / step < 4:
            step /= 2
        return [step * i for i in range(int(self.high / step) + 1)]


def frame(title, unit, axis):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', text(WIDTH / 2, 18, title, size=13)]
    for tick in axis.ticks():
        y = axis.y(tick)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(text(LEFT - 6, y + 4, f"{tick:g}", "end"))
    middle = (HEIGHT - BOTTOM + TOP) / 2
    out.append(text(14, middle, unit, extra=f'transform="rotate(-90 14 {middle})"'))
    return out


def legend(out, names):
    for i, name in enumerate(names):
        y = TOP + 16 * i
        out.append(f'<rect x="{WIDTH - RIGHT + 10}" y="{y}" width="10" height="10" fill="{COLOURS[i % len(COLOURS)]}"/>')
        out.append(text(WIDTH - RIGHT + 25, y + 9, name, "start"))


def bars(path, title, unit, groups, series, logarithmic=False):
    """groups: names along the axis; series: name to one value for each group, None where there is none."""
    axis = Axis([v for values in series.values() for v in values if v], logarithmic)
    out = frame(title, unit, axis)
    room = (WIDTH - LEFT - RIGHT) / len(groups)
    width = room * 0.8 / len(series)
    for g, group in enumerate(groups):
        for s, values in enumerate(series.values()):
            if not values[g]:
                continue
            x, y = LEFT + room * (g + 0.1) + width * s, axis.y(values[g])
            out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{HEIGHT - BOTTOM - y:.1f}" '
                       f'fill="{COLOURS[s % len(COLOURS)]}"/>')
        out.append(text(LEFT + room * (g + 0.5), HEIGHT - BOTTOM + 16, group))
    legend(out, series)
    write(path, out)


def lines(path, title, unit, across, series, logarithmic=False):
    """series: name to points (x, y); x grows linearly from the smallest to the largest."""
    points = [p for values in series.values() for p in values]
    axis = Axis([y for _, y in points if y > 0], logarithmic)
    low, high = min(x for x, _ in points), max(x for x, _ in points)
    place = lambda x: LEFT + (x - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT)
    out = frame(title, unit, axis)
    for s, values in enumerate(series.values()):
        path_points = " ".join(f"{place(x):.1f},{axis.y(y):.1f}" for x, y in values if y > 0)
        out.append(f'<polyline points="{path_points}" fill="none" stroke="{COLOURS[s % len(COLOURS)]}" stroke-width="2"/>')
    for i in range(5):
        x = low + (high - low) * i / 4
        out.append(text(place(x), HEIGHT - BOTTOM + 16, f"{x:g}"))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, across))
    legend(out, series)
    write(path, out)


def write(path, out):
    with open(path, "w") as f:
        f.write("\n".join(out + ["</svg>"]) + "\n")
