"""Checks of what moderngpu's tests print: a place and a value on each line."""
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
