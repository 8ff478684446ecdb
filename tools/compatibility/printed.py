"""Checks of what programs print: moderngpu's tests a place and a value on each line, Kokkos' a coloured grid."""
import re


def _values(output):
    return [float(value) for value in re.findall(r"(?m)^ *\d+:? +(-?\d+(?:\.\d+)?)$", output)]


def _differs(found, right):
    if len(found) != len(right):
        return f"{len(found)} values, {len(right)} are right"
    return next((f"value {place}: {ours:g}, right is {value:g}" for place, (ours, value) in enumerate(zip(found, right))
                 if abs(ours - value) > 1e-9 * abs(value) + 1e-6), "")


def bulk_insert(_run, output, _args):
    """10000 + i before each tenth number i of 0 to 999."""
    return _differs(_values(output), [value for i in range(1000) for value in ([10000 + i, i] if i % 10 == 0 else [i])])


def bulk_remove(_run, output, _args):
    """0 to 9999 without the numbers that end in 5."""
    return _differs(_values(output), [i for i in range(10000) if i % 10 != 5])


def scan(_run, output, _args):
    """The sums of as many times 1.01 as there are values before, and the sum of all 50000."""
    total = re.search(r"TOTAL = ([\d.]+)", output)
    if not total or abs(float(total.group(1)) - 50500) > 1e-5:
        return "the total is not 50500"
    return _differs(_values(output), [i * 1.01 for i in range(50000)])


def _same_colour(grid, distance):
    """Two points of the grid of one colour that are neighbours of the nine-point stencil, `distance` steps apart at most."""
    for y, row in enumerate(grid):
        for x, colour in enumerate(row):
            for below in range(y, min(y + distance + 1, len(grid))):
                for beside in range(max(x - distance, 0), min(x + distance + 1, len(row))):
                    if (below, beside) > (y, x) and grid[below][beside] == colour:
                        return f"points ({x}, {y}) and ({beside}, {below}) have colour {colour}, within {distance}"
    return ""


def grid_colouring(_run, output, _args):
    """A grid coloured so that no neighbours share a colour, and another in which no neighbours of neighbours do."""
    parts = re.split(r"9-pt stencil: Distance-(\d) Colors \(used (\d+)\):\n", output)[1:]
    if parts[::3] != ["1", "2"]:
        return "not the two grids"
    for distance, used, text in zip(*[iter(parts)] * 3):
        grid = [[int(word) for word in line.split()] for line in text.strip().splitlines() if line.strip()]
        if len(grid) < 2 or len({len(row) for row in grid}) != 1 or len({c for row in grid for c in row}) != int(used):
            return f"distance {distance}: not a grid of {used} colours"
        if problem := _same_colour(grid, int(distance)):
            return problem
    return ""
