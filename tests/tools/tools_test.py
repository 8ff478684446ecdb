"""The Python tools on tiny inputs: LOCKSTEP is the program, given as the first argument."""
import argparse
import csv
import io
import math
import os
import statistics
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from unittest import mock

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TOOLS = os.path.join(ROOT, "tools")
sys.path.insert(0, TOOLS)
sys.path.insert(1, os.path.join(TOOLS, "experiments", "uvm"))

import accelsim_compare  # noqa: E402
import command_line  # noqa: E402
import cuda_api  # noqa: E402
import derive_energy  # noqa: E402
import derive_memory  # noqa: E402
import lab  # noqa: E402
import lockstep_stats  # noqa: E402
import microbench  # noqa: E402
import microbench_memory  # noqa: E402
import microbench_sm  # noqa: E402
import timeline_svg  # noqa: E402
from results import accelwattch, split  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
KIB = 1024


def write(folder, name, header, rows):
    with open(os.path.join(folder, name), "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(header)
        out.writerows(rows)


def synth(folder, kind, *options):
    subprocess.run([PROGRAM, "synth", kind, *options, "--out", folder], check=True, stdout=subprocess.DEVNULL)


def printed(main, *arguments):
    out = io.StringIO()
    with mock.patch.object(sys, "argv", ["tool", *arguments]), redirect_stdout(out):
        main()
    return out.getvalue()


class Hash(unittest.TestCase):
    def test_is_fnv1a(self):  # the published test vectors of 64-bit FNV-1a
        self.assertEqual(split.fnv1a(""), 0xCBF29CE484222325)
        self.assertEqual(split.fnv1a("a"), 0xAF63DC4C8601EC8C)
        self.assertEqual(split.fnv1a("foobar"), 0x85944171F73967E8)


class Derive(unittest.TestCase):
    """Tables made from known parameters give these parameters back; the rows that may not be used are nonsense."""

    def table(self, folder, gpu, core_mhz, plateaus):
        rows = []
        for low, high, cycles in plateaus:
            for i in range(24):
                kib = round(low * (high / low) ** (i / 23), 1)
                usable = microbench_memory.Row(f"{gpu}+{kib}", 1, 1).derives
                rows.append(["te42kyfo", gpu, core_mhz, kib, cycles if usable else 1])
        write(folder, "pointer_chase_latency.csv",
              ["source", "gpu", "clock_MHz", "footprint_kB", "latency_cycles"], rows)
        write(folder, "cache_bandwidth.csv", ["source", "bench", "gpu", "footprint_kB", "GBps"],
              [["te42kyfo", "gpu-cache", gpu, k, 2048] for k in range(400, 2000, 50)])
        write(folder, "stream_bandwidth.csv",
              ["source", "gpu", "blockSize", "threads", "occ_pct", "init", "read", "scale", "triad", "3pt", "5pt"], [])

    def test_two_halves(self):
        """The sums of docs/add-a-gpu.md with A100's clocks."""
        core, icnt, dram = 1410, 1100, 1593
        hit, slice_latency, far, picoseconds = 30, 80, 50, 150000
        near = hit + 6 + core / icnt * (31 + slice_latency + 1 + 31)
        way = 2 * far * core / icnt
        refresh = 415**2 / 6213 / 2  # mean wait
        last = near + (picoseconds / 1e6 + (23 + 23 + 2 + refresh) / dram) * core + way / 2
        middle = (near + way + last - way / 2) / 2
        with tempfile.TemporaryDirectory() as folder:
            self.table(folder, "a100_80", core, [(1, 100, hit + 2), (300, 14000, near + 2), (27000, 38000, middle + 2),
                                                 (400000, 900000, last + 2)])
            found = {k: v for k, v, _ in derive_memory.derive(PROGRAM, "a100", folder)}
        self.assertEqual(found["l1.hit_latency"], hit)
        self.assertEqual(found["l2.latency"], slice_latency)
        self.assertEqual(found["icnt.far_latency"], far)
        self.assertTrue(math.isclose(found["dram.latency_ps"], picoseconds, rel_tol=0.01), found)
        self.assertEqual(found["clock.l2_khz"], round(2048e6 / (80 * 64)))


class Microbench(unittest.TestCase):
    def test_chase_of_the_l1(self):
        """V100's L1 hit takes 28 cycles (Jia et al. 2018), the second half of a warp's 64-bit data two more."""
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "pointer_chase_latency.csv", ["source", "gpu", "clock_MHz", "footprint_kB", "latency_cycles"],
                  [["te42kyfo", "v100", 1380, 1.0, 30], ["te42kyfo", "v100", 1380, 2.0, 60],
                   ["RRZE-HPC", "v100", 1380, 2.0, 28]])
            text = printed(microbench.main, PROGRAM, "v100", "--measured", folder, "--group", "chase", "--rows",
                           "--jobs", "1")
        self.assertRegex(text, r"\| 1\.0 \| 30\.0 \| 30\.0 \| [+-]0\.0 % \|")
        self.assertIn("| 2.0 | 60.0 | 30.0 | -50.0 % |", text)
        self.assertRegex(text, r"\| 2\.0 \| 28\.0 \| 28\.0 \| [+-]0\.0 % \|")

    def test_chains(self):
        """FFMA of a V100: 4 cycles dependent, 64 lanes per SM."""
        machine = microbench_sm.Machine(PROGRAM, "v100")
        self.assertAlmostEqual(machine.latency("FFMA"), 4, places=2)
        self.assertAlmostEqual(machine.rate("FFMA"), 2, places=2)

    def test_two_halves_of_the_l2(self):
        """FFMA of an A100: 4 cycles dependent."""
        self.assertAlmostEqual(microbench_sm.Machine(PROGRAM, "a100").latency("FFMA"), 4, places=2)


class Compare(unittest.TestCase):
    def test_chain(self):
        with tempfile.TemporaryDirectory() as folder:
            peers = os.path.join(folder, "peers")
            synth(os.path.join(peers, "tiny-2"), "chain", "--iterations", "4")
            text = printed(accelsim_compare.main, PROGRAM, peers, folder, "--only", "chain")
        self.assertIn("| chain | cycles | 198,458 |", text)
        self.assertIn("| chain | L1 accesses | 3,200 |", text)


class Draws(unittest.TestCase):
    """Of the experiments with managed memory. A run's time is made up from what the run would be."""

    def made(self, folder, public):
        lab_ = lab.Lab(argparse.Namespace(program=PROGRAM, binaries=folder, public=public, measured=None, work=folder, out=folder,
                                          only=None, jobs=2))
        lab_.trace = lambda name, arguments=None: " ".join([name, *(arguments or [])])
        self.times = {}

        def run(trace, configuration, memory, **values):
            us = float(split.fnv1a(f"{trace} {configuration}") % 100003)
            self.times[trace, *configuration] = us
            return lab.Result(0, us, {})
        lab_.run = run
        return lab_

    def test_median_of_nine(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, traces, machines in (("nw", 1, 9), ("bfs", 9, 1)):
                lab_ = self.made(folder, folder)
                middle = lab_.median(name, 110, evictor="tbn").us
                self.assertEqual(middle, statistics.median(self.times.values()))
                self.assertEqual(len(self.times), 9)
                self.assertEqual(len({key[0] for key in self.times}), traces)
                self.assertEqual(len({key[1:] for key in self.times}), machines)
                self.assertIn(tuple(lab.SMART), [key[1:] for key in self.times])  # UVMSmart's machine as it is
                spread = [r.us for r in lab_.spread(name, 110, evictor="tbn")]
                self.assertEqual(spread, sorted(self.times.values()))

    def test_one_run_of_all_others(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, public in (("fdtd", folder), ("nw", None), ("bfs", None)):
                lab_ = self.made(folder, public)
                lab_.median(name, 110)
                self.assertEqual(list(self.times), [(name, *lab.SMART)])


def scripts():
    """All that a user can start."""
    folders = [os.path.join(ROOT, *parts) for parts in (
        ["tools"], ["tools", "experiments", "uvm"], ["tools", "experiments", "compnet"], ["tools", "slurm"], ["bench"], ["examples"], ["examples", "uvm"])]
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if not os.path.isfile(path) or not os.access(path, os.X_OK):
                continue
            with open(path, "rb") as f:
                if f.read(2) == b"#!":
                    yield path


def started(script, *arguments):
    with open(script) as f:
        command = [sys.executable, script] if f.readline().rstrip().endswith("python3") else [script]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


class CommandLines(unittest.TestCase):
    """Each script says what it takes, and what is wrong in one line with exit code 2."""

    def check_refused(self, script, *arguments):
        done = started(script, *arguments)
        what = f"{os.path.basename(script)} {' '.join(arguments)}: {done.returncode}\n{done.stderr}"
        self.assertEqual(done.returncode, 2, what)
        self.assertEqual(done.stderr.count("\n"), 1, what)
        self.assertEqual(done.stdout, "", what)
        return done.stderr

    def check_script(self, script):
        name = os.path.basename(script)
        if os.path.dirname(script).endswith("uvm") and name not in ("make.sh", "public_inputs.py", "starts.py"):
            return self.check_refused(script)  # all experiments have the one command line of lab.py
        done = started(script, "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""), script)
        self.assertIn("usage", done.stdout.lower(), script)
        self.check_refused(script, "--no-such-option")
        if name not in ("make_ptx.sh", "cuda_api.py", "summaries.py", "architecture.py"):  # they need no arguments
            self.check_refused(script)
        if name not in ("make.sh", "public_inputs.py"):  # they make their folder
            self.check_refused(script, "/no/such/file")

    def test_all_scripts(self):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            self.assertGreater(len(list(pool.map(self.check_script, scripts()))), 30)

    def test_no_program(self):
        for name in ("derive_memory.py", "microbench.py", "microbench_sm.py"):
            text = self.check_refused(os.path.join(TOOLS, name), "/no/lockstep", "v100", "--measured", TOOLS)
            self.assertIn("/no/lockstep: no such program", text)

    def test_bad_values(self):
        with tempfile.TemporaryDirectory() as folder:
            measured = os.path.join(folder, "pointer_chase_latency.csv")
            header = ["source", "gpu", "clock_MHz", "footprint_kB", "latency_cycles"]
            derive = [os.path.join(TOOLS, "derive_memory.py"), PROGRAM]
            write(folder, "pointer_chase_latency.csv", header, [["te42kyfo", "v100", 1380, 1.0, 30]])
            self.assertIn("no rows of 'V100'; --gpu is one of v100",
                          self.check_refused(*derive, "v100", "--measured", folder, "--gpu", "V100"))
            self.assertIn("that may be used shows the", self.check_refused(*derive, "v100", "--measured", folder))
            self.assertIn("'nosuch' is neither a GPU model",
                          self.check_refused(*derive, "nosuch", "--measured", folder, "--gpu", "v100"))
            write(folder, "pointer_chase_latency.csv", header, [["te42kyfo", "v100", 1380, 1.0, "fast"]])
            self.assertIn(f"{measured}:2: latency_cycles: found 'fast', expected a number",
                          self.check_refused(*derive, "v100", "--measured", folder))
            write(folder, "pointer_chase_latency.csv", header[:-1], [])
            self.assertIn("no rows of 'v100'", self.check_refused(*derive, "v100", "--measured", folder))
            self.check_refused(os.path.join(TOOLS, "derive_uvm.py"), measured)
            self.check_refused(os.path.join(TOOLS, "timeline_svg.py"), measured, os.path.join(folder, "out.svg"))
            self.check_refused(os.path.join(TOOLS, "microbench.py"), PROGRAM, "v100", "--measured", folder, "--jobs", "0")
            self.check_refused(os.path.join(ROOT, "bench", "speed"), PROGRAM, "--threads", "two")
            self.check_refused(os.path.join(ROOT, "bench", "speed"), PROGRAM, "--forms", "tape")
            self.check_refused(os.path.join(ROOT, "bench", "speed"), PROGRAM, "--only", "nothing")
            self.check_refused(os.path.join(ROOT, "bench", "guard"), folder)


class Timeline(unittest.TestCase):
    def test_rows_of_several_processes(self):
        name = lambda pid, text, **more: {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": text}, **more}
        span = lambda pid, tid, text, ts: {"name": text, "ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": 2, "args": {}}
        events = [name(1, "gpu0: a100"), name(2, "nic0"), name(1, "kernels", tid=7), name(2, "commands 0", tid=7), name(2, "commands 1", tid=8),
                  span(1, 7, "ping_pong", 0), span(2, 7, "put fetched", 3), span(2, 8, "late", 90)]
        picture = timeline_svg.draw(events, 0, 10)
        for text in ("gpu0: kernels", "nic0: commands 0", ">ping_pong<", ">put fetched<"):
            self.assertIn(text, picture)
        self.assertNotIn("commands 1", picture)  # which has nothing in the range
        self.assertEqual(2, picture.count("<title>"))
        self.assertIn(">fetched<", timeline_svg.draw(events, 0, 25))  # no room for both words


class CudaApi(unittest.TestCase):
    def test_what_is_refused_is_what_the_library_has_no_body_for(self):
        library = os.path.join(os.path.dirname(PROGRAM), "libcudart.so.13")
        lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
        kinds = {name.split("@")[0]: kind for _, kind, name in (line.split() for line in lines.splitlines())}
        runtime, driver, refused = cuda_api.states(cuda_api.ROOT / "src/cuda")
        self.assertEqual({name for name in runtime | driver if kinds.get(name) == "W"}, set(refused))
        self.assertEqual({name for name in runtime | driver if name not in kinds}, set())
        self.assertTrue({"cuGreenCtxCreate", "cuMemAlloc"} <= set(refused))
        self.assertTrue({"cudaGraphAddNode", "cuMemAlloc_v2", "cuLaunchKernel_ptsz"}.isdisjoint(refused))

    def test_each_refusal_has_one_reason_and_each_reason_a_refusal(self):
        rules = [{"match": "cuGreen.*", "why": "green"}, {"match": "cu.*", "why": "other"}]
        self.assertEqual(cuda_api.reasons({"cuGreenCtxCreate", "cuLaunch"}, rules),
                         {"cuGreenCtxCreate": "green", "cuLaunch": "other"})
        with self.assertRaises(command_line.Failure):
            cuda_api.reasons({"cudaGL"}, [{"match": "cuGreen.*", "why": "green"}])
        with self.assertRaises(command_line.Failure):
            cuda_api.reasons({"cuGreenCtxCreate"}, rules)


class LockstepStats(unittest.TestCase):
    """Results of runs of bundled traces: with pandas as data frames, without it as dictionaries."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.run_folder = os.path.join(cls.folder.name, "mixed")
        subprocess.run([PROGRAM, "run", os.path.join(ROOT, "traces", "mixed"), "-q", "--interval", "1000", "-o",
                        cls.run_folder], check=True)
        cls.sweep = os.path.join(cls.folder.name, "sweep")
        study = os.path.join(cls.folder.name, "s.toml")
        with open(study, "w") as f:
            f.write('[[workload]]\ntrace = "%s"\n[[axis]]\nkey = "sm.max_ctas"\nvalues = [8, 16]\n'
                    % os.path.join(ROOT, "traces", "chain"))
        subprocess.run([PROGRAM, "sweep", study, "-q", "-o", cls.sweep], check=True)
        with open(os.path.join(cls.run_folder, "stats.csv")) as f:
            cls.csv = list(csv.DictReader(f))

    @staticmethod
    def rows(frame):
        return frame if isinstance(frame, list) else frame.to_dict("records")

    def check_all(self):
        runs = lockstep_stats.load(self.run_folder)
        kernels = self.rows(lockstep_stats.kernels(runs))
        self.assertEqual([k["id"] for k in kernels], [int(k["id"]) for k in self.csv])
        for own, other in zip(kernels, self.csv):  # stats.csv is another writer of the same numbers
            self.assertEqual(own["l1.hits"], int(other["l1.hits"]))
            self.assertEqual(own["stalls.idle"], int(other["stalls.idle"]))
            self.assertEqual(own["grid.x"], int(other["grid_x"]))
        total = self.rows(lockstep_stats.totals(runs))[0]
        self.assertEqual(total["cycles"], sum(int(k["cycles"]) for k in self.csv))
        self.assertEqual(total["trace.name"], "mixed")
        series = self.rows(lockstep_stats.intervals(runs))
        unattributed = runs[self.run_folder]["unattributed"]["l2"]["accesses"]
        self.assertEqual(sum(row["l2.accesses"] for row in series), total["l2.accesses"] + unattributed)
        copies = self.rows(lockstep_stats.copies(runs))
        self.assertEqual(len(copies), total["copies"])
        table = self.rows(lockstep_stats.table(self.sweep))
        self.assertEqual([row["sm.max_ctas"] for row in table], [8, 16])
        self.assertEqual(len(lockstep_stats.load(self.sweep)), 2)
        self.assertEqual(sorted(row["cycles"] for row in self.rows(lockstep_stats.totals(lockstep_stats.load(self.sweep)))),
                         sorted(row["cycles"] for row in table))

    def test_dictionaries(self):
        with mock.patch.object(lockstep_stats, "pandas", None):
            self.assertIsInstance(lockstep_stats.totals(lockstep_stats.load(self.run_folder)), list)
            self.check_all()

    @unittest.skipIf(lockstep_stats.pandas is None, "pandas is not installed")
    def test_data_frames(self):
        self.assertEqual(lockstep_stats.totals(lockstep_stats.load(self.run_folder)).shape[0], 1)
        self.check_all()

    def test_no_result(self):
        bad = os.path.join(self.folder.name, "bad.json")
        for text, message in [("{", "bad.json:1: not valid JSON"), ("[]", "found no list of kernels"),
                              ('{"kernels":[],"schema":9}', "found schema 9")]:
            with open(bad, "w") as f:
                f.write(text)
            with self.assertRaisesRegex(lockstep_stats.StatsError, message):
                lockstep_stats.load(bad)


class Results(unittest.TestCase):
    def test_ffma(self):
        """The page's section from generated traces: a dependent FFMA takes 4 cycles and the loop's branch a bit."""
        with tempfile.TemporaryDirectory() as folder:
            for n in (10, 20, 30, 40):
                synth(os.path.join(folder, "traces", f"ffma-h100-{n}"), "ffma", "--iterations", str(n), "--arch", "90")
            page = os.path.join(folder, "kernels.md")
            with open(page, "w") as f:
                f.write("# Kernels\n\n## Real traces\n\nold\n\n## By hand\n\nkept\n\n## Launches\n\nold too\n")
            subprocess.run([sys.executable, os.path.join(TOOLS, "results.py"), PROGRAM, folder, "--only", "ffma", "--out",
                            folder], check=True, stderr=subprocess.DEVNULL)
            with open(page) as f:
                text = f.read()
            self.assertEqual(os.listdir(folder).count("speed.md"), 0)  # none of its sections was asked for
        slope = float(text.split("Slope: ")[1].split(" ")[0])
        self.assertTrue(3.93 <= slope <= 4.09, text)  # 4.01 measured, 2 %
        titles = [line for line in text.splitlines() if line.startswith("## ")]
        self.assertEqual(titles, ["## Real traces", "## By hand", "## Dependent FFMA on an H100 PCIe", "## Launches"])
        self.assertIn("## By hand\n\nkept\n", text)


class DerivedEnergy(unittest.TestCase):
    """tools/derive_energy.py."""

    ENERGIES = {"L1_RH": 300.0, "L1_RM": 200.0, "L1_WH": 20.0, "L1_WM": 190.0, "L2_RH": 180.0, "L2_RM": 90.0, "L2_WH": 700.0,
                "NOC": 240.0, "SHRD_ACC": 600.0, "CC_ACC": 460.0}

    def tables(self):
        """Counters without a pattern, and the powers that the energies make of them; 2 W of the DRAM are constant."""
        counters, powers = {}, {}
        for i, k in enumerate(accelwattch.KERNELS):
            c = {e: 1e5 + (split.fnv1a(f"{e}{i}") % 900000) for e in [*self.ENERGIES, "DRAM_Rd", "DRAM_Wr"]}
            c["Elapsed_Cycles"] = 30000.0 + 100 * i
            watts = accelwattch.CLOCK / c["Elapsed_Cycles"] * 1e-12
            powers[k.name] = {component: sum(self.ENERGIES[e] * c[e] for e in events) * watts for component, events in derive_energy.FITS}
            powers[k.name]["DRAMP"] = 2 + (c["DRAM_Rd"] * derive_energy.DRAM_READ + c["DRAM_Wr"] * derive_energy.DRAM_WRITE) * watts
            counters[k.name] = c
        return counters, powers

    def test_energies_of_made_up_powers_come_back(self):
        counters, powers = self.tables()
        found, constant = derive_energy.memory_side(powers, counters)
        for event, picojoules in self.ENERGIES.items():
            self.assertAlmostEqual(found[event], picojoules, places=4)
        self.assertAlmostEqual(constant, 2, places=9)

    def test_kernels_kept_as_a_check_change_nothing(self):
        counters, powers = self.tables()
        expected = derive_energy.memory_side(powers, counters)
        for name in filter(split.is_check, powers):
            powers[name] = {component: 1000.0 for component in powers[name]}
        self.assertEqual(derive_energy.memory_side(powers, counters), expected)

    def test_a_loop_of_launches_has_idle_power_in_the_launch_floor(self):
        kernel = {"cycles": 1000, "launch_cycles": 1000, "energy": {"total_pj": 200 * 1000 / accelwattch.CLOCK * 1e12}}
        self.assertAlmostEqual(derive_energy.loop_watts(kernel), (200 + derive_energy.IDLE) / 2)


if __name__ == "__main__":
    unittest.main()
