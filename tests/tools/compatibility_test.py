"""The checks and the page of tools/compatibility.py, without programs."""
import os
import pathlib
import struct
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.path.join(ROOT, "tools"))

from compatibility import checks, graphs, inputs, page, printed, reference, tables  # noqa: E402
from compatibility.execute import Outcome  # noqa: E402


class Graphs(unittest.TestCase):
    """Pannotia's checks on rings of `size` nodes, where the right results have closed forms."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.run_folder = pathlib.Path(self.folder.name)

    def ring(self, size):
        lines = [f"p p {size} {size}", *(f"a {i + 1} {(i + 1) % size + 1} 3" for i in range(size))]
        (self.run_folder / "graph.gr").write_text("\n".join(lines))

    def said(self, check, results):
        (self.run_folder / "result.out").write_text("".join(f"{i}: {value}\n" for i, value in enumerate(results)))
        return check(self.run_folder, "", [])

    def expect(self, check, right, wrong):
        self.assertEqual(self.said(check, right), "")
        self.assertNotEqual(self.said(check, wrong), "")
        self.assertNotEqual(self.said(check, right[:-1]), "")

    def test_c_library_s_random_numbers(self):  # what glibc's rand() gives after srand(1)
        self.assertEqual(graphs.c_random(1, 4), [1804289383, 846930886, 1681692777, 1714636915])

    def test_shortest_paths(self):
        self.ring(5)
        self.expect(graphs.shortest_paths, [0, 3, 6, 9, 12], [0, 3, 6, 9, 3])

    def test_betweenness(self):  # of n (n - 1) pairs, (n - 1) (n - 2) / 2 pass through each node
        self.ring(6)
        self.expect(graphs.betweenness, [10.0] * 6, [10.0] * 5 + [9.0])

    def test_page_rank(self):  # all nodes are alike
        self.ring(8)
        self.expect(graphs.page_rank, [0.125] * 8, [0.125] * 7 + [0.12501])

    def test_colouring(self):
        self.ring(6)
        self.expect(graphs.colouring, [1, 2] * 3, [1, 2, 2, 1, 2, 3])
        self.assertNotEqual(self.said(graphs.colouring, [1, 2, 1, 2, 1, -1]), "")

    def test_independent_set(self):
        self.ring(6)
        self.expect(graphs.independent_set, [2, 0] * 3, [2, 2, 0, 2, 0, 0])
        self.assertIn("could be added", self.said(graphs.independent_set, [2, 0, 0, 0, 2, 0]))

    def test_adjacency_is_the_graph_in_both_directions(self):
        inputs.KINDS["adjacency"](self.run_folder / "graph.metis", 20, 3)
        head, *rows = (self.run_folder / "graph.metis").read_text().splitlines()
        near = [set(map(int, row.split())) for row in rows]
        self.assertEqual(head, "20 60")
        self.assertEqual(sum(map(len, near)), 120)  # each pair once
        self.assertTrue(all(node + 1 in near[end - 1] for node, ends in enumerate(near) for end in ends))


class Printed(unittest.TestCase):
    """moderngpu's checks take what its tests print, and nothing else."""

    def expect(self, check, lines):
        self.assertEqual(check(None, "\n".join(lines), []), "")
        self.assertNotEqual(check(None, "\n".join(lines[:-1]), []), "")
        self.assertNotEqual(check(None, "\n".join([*lines[:-2], lines[-1], lines[-2]]), []), "")

    def test_bulk_insert(self):
        values = [10000, *range(10), 10010, *range(10, 20)]
        for ten in range(20, 1000, 10):
            values += [10000 + ten, *range(ten, ten + 10)]
        self.expect(printed.bulk_insert, [f"{i:4d}: {value:6d}" for i, value in enumerate(values)])

    def test_bulk_remove(self):
        values = [int(f"{tens}{unit}") for tens in range(1000) for unit in "012346789"]
        self.expect(printed.bulk_remove, [f"{i:4d}: {value:4d}" for i, value in enumerate(values)])

    def test_scan(self):
        sums = [f"{i:3d} {i + i / 100:f}" for i in range(50000)]
        self.expect(printed.scan, ["TOTAL = 50500.000000", *sums])
        self.assertNotEqual(printed.scan(None, "\n".join(["TOTAL = 50500.500000", *sums]), []), "")

    def test_grid_colouring(self):
        def printed_grids(first, second):
            return "".join(f"9-pt stencil: Distance-{d} Colors (used {used}):\n{text}\n\n"
                           for d, (used, text) in enumerate((first, second), 1))
        near, far = (4, "1 2 1\n3 4 3\n"), (6, "1 2 3\n4 5 6\n")
        self.assertEqual(checks.KINDS["grid_colouring"](None, printed_grids(near, far), []), "")
        for wrong in [(near, near), ((3, "1 2 1\n3 1 3\n"), far), ((5, near[1]), far), ((4, "1 2 1\n3 4\n"), far)]:
            self.assertNotEqual(checks.KINDS["grid_colouring"](None, printed_grids(*wrong), []), "", wrong)
        self.assertNotEqual(checks.KINDS["grid_colouring"](None, "no grids", []), "")


class Reference(unittest.TestCase):
    """Binary results beside those of another program."""

    def difference(self, ours, theirs, **how):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "out").write_bytes(ours)
            (folder / "theirs").write_bytes(theirs)
            (folder / "reference").write_text("#!/bin/sh\ncp theirs out\n")
            (folder / "reference").chmod(0o755)
            program = tables.Program("test", compare={"files": ["out"], **how})
            return reference.compare(program, folder, folder, "", lambda: folder)

    def test_bytes(self):
        self.assertEqual(self.difference(b"\x01\xff", b"\x01\xff", bytes=True), "")
        self.assertNotEqual(self.difference(b"\x01\xff", b"\x01\xfe", bytes=True), "")

    def test_floats(self):
        def numbers(*values):
            return struct.pack(f"<{len(values)}f", *values)
        self.assertEqual(self.difference(numbers(1, 2000), numbers(1.00001, 2000.1), floats=True), "")
        self.assertIn("2.5", self.difference(numbers(1, 2.5), numbers(1, 2.4), floats=True))
        self.assertNotEqual(self.difference(numbers(1), numbers(1, 2), floats=True), "")
        self.assertNotEqual(self.difference(numbers(1, float("nan")), numbers(1, 2), floats=True), "")
        self.assertNotEqual(self.difference(numbers(1) + b"a", numbers(1) + b"b", floats=True), "")


class Page(unittest.TestCase):
    def test_shows_the_suites_that_were_run(self):
        with tempfile.TemporaryDirectory() as folder:
            results = page.Results(pathlib.Path(folder) / "results.json")
            program = next(p for p in tables.programs() if not p.options)
            program.options = ["--check", "races"]
            results.put(program, Outcome("wrong", "it differs"))
            text = page.render(results, tables.suites())
        headings = [line for line in text.splitlines() if line.startswith("## ")]
        self.assertEqual(headings, [f"## {program.suite.title}: 0 of {len(program.suite.programs)} pass"])
        row = next(line for line in text.splitlines() if line.startswith(f"| {program.name} |"))
        self.assertIn("| wrong |", row)
        self.assertIn(f"with `{' '.join(map(str, program.options))}`", row)

    def test_tables(self):
        names = [(program.suite.key, program.name) for program in tables.programs()]
        self.assertEqual(len(names), len(set(names)))
        for program in tables.programs():
            self.assertIn(program.check, ("", *checks.KINDS), program.name)
            for kind, *_ in program.inputs:
                self.assertIn(kind, inputs.KINDS, program.name)


if __name__ == "__main__":
    unittest.main()
