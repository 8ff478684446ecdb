"""Results of lockstep as pandas data frames, or as lists of dictionaries where pandas is not installed.

    import lockstep_stats as ls
    runs = ls.load("results/a", "results/b")     # folders, stats.json files, or the folder of a sweep
    ls.kernels(runs)                             # a row for each launch of a kernel
    ls.totals(runs)                              # a row for each run
    ls.intervals(runs)                           # a row for each interval of `--interval`
    ls.table("lulesh-results")                   # the table of `lockstep sweep`

Columns are named as in docs/stats.md, nested names joined by a dot ("l1.hits"); `run` is the path that was given.
"""
import json
import os

try:
    import pandas
except ImportError:
    pandas = None

SCHEMAS = (1, 2)


class StatsError(Exception):
    """A file that is no result of lockstep, or of a version that this module does not know."""


def frame(rows):
    """A list of dictionaries as what this module returns: a pandas.DataFrame, or the list itself."""
    return rows if pandas is None else pandas.DataFrame(rows)


def flat(value, path=""):
    """A nested dictionary as one with dotted names; lists of three numbers (grid, block) become .x, .y and .z."""
    row = {}
    for key, child in value.items():
        name = f"{path}.{key}" if path else key
        if isinstance(child, dict):
            row.update(flat(child, name))
        elif key in ("grid", "block") and len(child) == 3:
            row.update({f"{name}.{axis}": number for axis, number in zip("xyz", child)})
        elif not isinstance(child, list):
            row[name] = child
    return row


def _stats_file(path):
    return os.path.join(path, "stats.json") if os.path.isdir(path) else path


def _read(path):
    file = _stats_file(path)
    try:
        with open(file, encoding="utf-8") as f:
            stats = json.load(f)
    except json.JSONDecodeError as e:
        raise StatsError(f"{file}:{e.lineno}: not valid JSON: {e.msg}") from e
    if not isinstance(stats, dict) or "kernels" not in stats:
        raise StatsError(f"{file}: found no list of kernels, expected a stats.json of lockstep")
    if stats.get("schema") not in SCHEMAS:
        raise StatsError(f"{file}: found schema {stats.get('schema')}, this module reads {SCHEMAS}")
    return stats


def _expand(path):
    """The runs of a sweep's folder, else the path itself."""
    runs = os.path.join(path, "runs")
    if os.path.isdir(path) and not os.path.exists(_stats_file(path)) and os.path.isdir(runs):
        folders = (os.path.join(runs, name) for name in sorted(os.listdir(runs)))
        return [f for f in folders if os.path.exists(_stats_file(f))]
    return [path]


def load(*paths):
    """Reads runs: {path: contents of its stats.json}, in the order given. Raises OSError and StatsError."""
    return {path: _read(path) for given in paths for path in _expand(given)}


def _rows(runs, key):
    return frame([{"run": path, "gpu": stats.get("gpu"), "trace": stats.get("trace", {}).get("name"), **flat(item)}
                  for path, stats in runs.items() for item in stats.get(key, [])])


def kernels(runs):
    """A row for each launch of a kernel, in order of completion."""
    return _rows(runs, "kernels")


def copies(runs):
    """A row for each copy and fill."""
    return _rows(runs, "copies")


def totals(runs):
    """A row for each run: the sums of `total`, and what else is said of the whole run. Names of counters stand for
    `total`; others keep their path (`trace.name`, `managed.faults`, `overrides.l1.bytes`)."""
    rows = []
    for path, stats in runs.items():
        row = {"run": path}
        for key, value in stats.items():
            if key == "total":
                row.update(flat(value))
            elif isinstance(value, dict) and key != "intervals":
                row.update(flat(value, key))
            elif not isinstance(value, (dict, list)):
                row[key] = value
        rows.append(row)
    return frame(rows)


def intervals(runs):
    """A row for each interval of the runs that have a time series; counters are differences to the row before."""
    rows = []
    for path, stats in runs.items():
        series = stats.get("intervals")
        if series:
            rows += [{"run": path, **dict(zip(series["columns"], values))} for values in series["rows"]]
    return frame(rows)


def table(path):
    """The table of a sweep: its folder or its table.jsonl. Values that a run does not have are None (NaN)."""
    file = os.path.join(path, "table.jsonl") if os.path.isdir(path) else path
    with open(file, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return frame([{name: row.get(name) for name in columns} for row in rows])
