"""Checks of results that no other program gives: each takes the folder where the program ran, its output and its
arguments, and returns what is wrong, or nothing."""
import math
import re

from . import graphs, lonestar, printed


def _numbers(path):
    return [float(word) for word in path.read_text().split()]


def hotspot(run, _output, args):
    """The temperatures by the difference equation of the HotSpot model, step by step in double precision. (Rodinia's
    OpenMP version takes steps of a thousandth.)"""
    side, steps = args[0], args[2]
    thickness, size, ambient = 0.0005, 0.016, 80.0
    factor, heat, conductivity, density, precision = 0.5, 1.75e6, 100.0, 3e6, 0.001
    cell = size / side
    capacity = factor * heat * thickness * cell * cell
    across, up = 2 * conductivity * thickness, conductivity * cell * cell / thickness  # conductances
    step = precision / (density / (factor * thickness * heat)) / capacity
    temperature, power = _numbers(run / "temp"), _numbers(run / "power")
    last = side - 1
    for _ in range(steps):
        old = temperature
        temperature = [
            t + step * (power[i] + across * (old[i - side if i >= side else i] + old[i + side if i < side * last else i]
                                             + old[i - (i % side > 0)] + old[i + (i % side < last)] - 4 * t)
                        + up * (ambient - t))
            for i, t in enumerate(old)]
    found = _numbers(run / args[5])[1::2]
    for i, (ours, right) in enumerate(zip(found, temperature)):
        if abs(ours - right) > 1e-3:
            return f"cell {i}: {ours:g}, by the equation {right:g}"
    return "" if len(found) == len(temperature) else f"{len(found)} cells"


def gaussian(_run, output, args):
    """The printed solution of the system that the program makes itself: 10 exp(-|i - j| / 100) x = 1."""
    size = args[1]
    rows = [[10 * math.exp(-abs(i - j) / 100) for j in range(size)] + [1.0] for i in range(size)]
    for i in range(size):
        for below in rows[i + 1:]:
            factor = below[i] / rows[i][i]
            for j in range(i, size + 1):
                below[j] -= factor * rows[i][j]
    solution = [0.0] * size
    for i in reversed(range(size)):
        known = sum(rows[i][j] * solution[j] for j in range(i + 1, size))
        solution[i] = (rows[i][size] - known) / rows[i][i]
    printed = output.partition("The final solution is:")[2].split()[:size]
    if len(printed) != size:
        return "no solution is printed"
    for i, (text, right) in enumerate(zip(printed, solution)):
        if abs(float(text) - right) > 2e-5:
            return f"unknown {i}: {text}, by elimination in double precision {right:.7f}"
    return ""


def kmeans(run, output, _args):
    """Each printed centre is the mean of the points that are nearest to it."""
    points = [[float(word) for word in line.split()[1:]] for line in (run / "points.txt").read_text().splitlines()]
    centres = [[float(word) for word in line.split()] for line in re.findall(r"(?m)^\d+: (.+)$", output)]
    if not centres or any(len(centre) != len(points[0]) for centre in centres):
        return "no centres are printed"
    members = [[] for _ in centres]
    for point in points:
        distances = [sum((a - b) ** 2 for a, b in zip(point, centre)) for centre in centres]
        members[distances.index(min(distances))].append(point)
    for i, (centre, group) in enumerate(zip(centres, members)):
        for dimension, value in enumerate(centre):
            mean = sum(point[dimension] for point in group) / max(len(group), 1)
            if abs(mean - value) > 0.05:
                return f"centre {i}, dimension {dimension}: {value:g}, the mean of its points is {mean:g}"
    return ""


def _srad_step(image, rows, columns, rate):
    """One iteration of speckle reducing anisotropic diffusion (Yu and Acton, 2002) on {(row, column)} as a list."""
    count = rows * columns
    mean = sum(image) / count
    noise = (sum(v * v for v in image) / count - mean * mean) / (mean * mean)
    steps, coefficients = [], []
    for i, v in enumerate(image):
        row, column = divmod(i, columns)
        north = image[i - columns if row > 0 else i] - v
        south = image[i + columns if row < rows - 1 else i] - v
        west = image[i - 1 if column > 0 else i] - v
        east = image[i + 1 if column < columns - 1 else i] - v
        gradient = (north * north + south * south + west * west + east * east) / (v * v)
        laplacian = (north + south + west + east) / v
        variation = (0.5 * gradient - laplacian * laplacian / 16) / (1 + 0.25 * laplacian) ** 2
        weight = 1 / (1 + (variation - noise) / (noise * (1 + noise)))
        coefficients.append(min(max(weight, 0.0), 1.0))
        steps.append((north, south, west, east))
    result = []
    for i, (north, south, west, east) in enumerate(steps):
        row, column = divmod(i, columns)
        here = coefficients[i]
        below = coefficients[i + columns if row < rows - 1 else i]
        right = coefficients[i + 1 if column < columns - 1 else i]
        result.append(image[i] + 0.25 * rate * (here * north + below * south + here * west + right * east))
    return result


def srad_v1(run, _output, args):
    """The image by the same iterations in double precision: at most one grey level apart. (Rodinia's OpenMP version
    loses the noise's variance, a small difference of large single-precision sums.)"""
    iterations, rate, rows, columns = args
    source = (run / "../../../data/srad/image.pgm").read_text().split()[4:]
    made_rows, made_columns = 502, 458  # what the program reads; it then repeats or cuts that to its size
    image = [math.exp(int(source[i % made_rows * made_columns + j % made_columns]) / 255)
             for i in range(rows) for j in range(columns)]
    for _ in range(iterations):
        image = _srad_step(image, rows, columns, rate)
    found = [int(value) for value in (run / "image_out.pgm").read_text().split()[4:]]
    if len(found) != len(image):
        return f"{len(found)} pixels"
    for i, (ours, value) in enumerate(zip(found, image)):
        if abs(ours - math.log(value) * 255) > 1.5:
            return f"pixel {i}: {ours}, in double precision {math.log(value) * 255:.2f}"
    return ""


def srad_v2(_run, output, args):
    """The printed image by the same iterations in double precision."""
    rows, columns, rate, iterations = args[0], args[1], args[6], args[7]
    image = [math.exp(value / 0x7fffffff) for value in graphs.c_random(7, rows * columns)]
    for _ in range(iterations):
        image = _srad_step(image, rows, columns, rate)
    found = [float(word) for word in output.partition("Printing Output:")[2].partition("Computation")[0].split()]
    if len(found) != len(image):
        return f"{len(found)} pixels"
    for i, (ours, right) in enumerate(zip(found, image)):
        if abs(ours - right) > 1e-3:
            return f"pixel {i}: {ours}, in double precision {right:.5f}"
    return ""


def _fasta(path):
    """Sequences by name."""
    parts = path.read_text().split(">")[1:]
    return {part.split("\n", 1)[0].strip(): "".join(part.split("\n")[1:]) for part in parts}


def mummergpu(run, output, args):
    """Each read has a match, and the reference has at each printed place what the read has."""
    reference = "".join(_fasta(run / args[0]).values()).lower()
    for name, read in _fasta(run / args[1]).items():
        found = re.search(rf"^> {re.escape(name)}\n((?:\d+\t\d+\t\d+\n?)+)", output, re.MULTILINE)
        if not found:
            return f"{name}: no match"
        for line in found.group(1).splitlines():
            place, begin, length = map(int, line.split())
            if reference[place - 1:place - 1 + length] != read.lower()[begin - 1:begin - 1 + length]:
                return f"{name}: no match of {length} bases at {place}"
    return ""


KINDS = {check.__name__: check for check in (
    gaussian, hotspot, kmeans, mummergpu, srad_v1, srad_v2, graphs.betweenness, graphs.colouring, graphs.independent_set,
    graphs.page_rank, graphs.shortest_paths, lonestar.components, lonestar.distances, lonestar.edge_distances,
    lonestar.independent, lonestar.ranks, lonestar.spanning_tree, lonestar.triangles, printed.bulk_insert, printed.bulk_remove,
    printed.grid_colouring, printed.scan)}
