"""The documents against the repository: links, paths, quotations of files, generated tables and pictures."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
DOCS = os.path.join(ROOT, "docs")


def read(path):
    with open(os.path.join(ROOT, path)) as f:
        return f.read()


def pages():
    """All Markdown pages, relative to the root, without those of builds."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f != "build" and not f.startswith(".")]
        found += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files if f.endswith(".md")]
    return sorted(found)


def without_code(text):
    """`text` without code blocks (fenced or indented) and code spans, whose brackets are no links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def anchor(heading):
    """The anchor that GitHub gives to a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(path):
    text = re.sub(r"^```.*?^```", "", read(path), flags=re.S | re.M)
    return {anchor(match) for match in re.findall(r"^#+ (.+)$", text, re.M)}


class Wording(unittest.TestCase):
    """Phrases that are not idiomatic English or not the field's terms; docs/glossary.md has the right ones."""

    PHRASES = {
        r"nobody": "no warp, no device, no process: whatever it is; or the passive voice",
        r"so many": "this many, that many, `count`",
        r"a bit a \w+": "one bit per ...",
        r"(is|are) no numbers?": "is not a number, NaN",
        r"(is|are) none of": "is not one of",
        r"told apart": "distinguished",
        r"hears? of|heard of": "receives, is notified of",
        r"kMost\w*|kLeast\w*": "kMax..., kMin...",
        r"heed(s|ed|ing)?|distrust\w*|let_go|lookout": "a term of the field",
        r"hangs? on(?! a GPU)": "depends on",
        r"looked into": "examined",
        r"in the mean": "on average",
        r"of theirs|for somebody|for who": "of their own; for the warp, thread, reader that ...",
        r"asked of": "requested from",
        r"(?<!there )is no (folder|check|axis|multiple|checkpoint|column|node)": "is not a ...",
        r"(CTAs?|SMs?|cores?|slices?|L2|NICs?|GMMU) (answers?|tells?|hears?)": "replies, reports, receives",
        r"(a|one|\d+) (CTA|flit|instruction|line|pass|register|request|sector|word)s? an? (CTA|SM|cycle|lane|round|warp)(?! \w)": "per",
        r"(shipped|GPU) products?": "GPU model",
        r"\d+ (us|ns|cycles|bytes) an? (?!time\b)\w+": "per",
        r"(bytes|lines|loads|instructions|cycles) a (cycle|warp|lane|thread|second)(?! \w)": "per",
    }
    FOLDERS = ("src", "include", "tests", "tools", "bench", "configs", "systems", "examples", "docs")
    ALLOWED = {"tests/cuda/program/pools.cpp", "tests/ptx/linker_test.cpp", "tests/core/sm_bench.hpp",  # names in code
               "tests/docs/docs_test.py"}

    ANY = re.compile(r"\b(?:" + "|".join(PHRASES) + r")\b", re.I)

    @classmethod
    def complaints(cls, text):
        if not cls.ANY.search(text):
            return []
        return [(number, phrase) for number, line in enumerate(text.split("\n"), 1) for phrase in cls.PHRASES
                if re.search(rf"\b({phrase})\b", line, re.I)]

    def test_phrases_are_found(self):
        self.assertEqual(self.complaints("one\nWhat nobody reads"), [(2, "nobody")])
        self.assertEqual([p for _, p in self.complaints("// 64 bytes a cycle")], list(self.PHRASES)[-2:])
        self.assertEqual(self.complaints("// bytes a lane moves\nbytes per cycle"), [])

    def test_no_file_has_them(self):
        read_files = 0
        for folder in self.FOLDERS:
            for path, _, files in os.walk(os.path.join(ROOT, folder)):
                for name in sorted(files):
                    file = os.path.relpath(os.path.join(path, name), ROOT)
                    if file in self.ALLOWED or not re.search(r"\.(cpp|hpp|h|cuh|cu|inc|ini|py|ptx|md)$", name):
                        continue
                    with open(os.path.join(path, name), encoding="utf-8", errors="replace") as f:
                        found = self.complaints(f.read())
                    self.assertEqual([f"{file}:{n}: '{p}'; write {self.PHRASES[p]}" for n, p in found], [])
                    read_files += 1
        self.assertGreater(read_files, 1000)


class Links(unittest.TestCase):
    def test_anchors_are_github_s(self):
        self.assertEqual(anchor("4. What bandwidth says"), "4-what-bandwidth-says")
        self.assertEqual(anchor("Runs against hardware: `lockstep correlate`"), "runs-against-hardware-lockstep-correlate")
        self.assertEqual(anchor("Rodinia 3.1 on a V100"), "rodinia-31-on-a-v100")

    def test_links_lead_somewhere(self):
        checked = 0
        for page in pages():
            for target in re.findall(r"\]\(([^)\s]+)\)", without_code(read(page))):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, fragment = target.partition("#")
                path = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
                with self.subTest(page=page, link=target):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, path)), "no such file")
                    if fragment:
                        self.assertIn(fragment, anchors(path))
                checked += 1
        self.assertGreater(checked, 100)

    def test_every_page_of_docs_can_be_reached(self):
        """From README, by links alone."""
        seen, todo = set(), ["README.md"]
        while todo:
            page = todo.pop()
            if page in seen or not page.endswith(".md") or not os.path.isfile(os.path.join(ROOT, page)):
                continue
            seen.add(page)
            for target in re.findall(r"\]\(([^)\s#]+)", without_code(read(page))):
                todo.append(os.path.normpath(os.path.join(os.path.dirname(page), target)))
        self.assertEqual(sorted(p for p in pages() if p.startswith("docs") and p not in seen), [])


class Paths(unittest.TestCase):
    """Paths of the repository that documents name as code."""

    FOLDERS = sorted(f for f in os.listdir(ROOT) if os.path.isdir(os.path.join(ROOT, f)) and f != "build" and not f.startswith("."))

    def test_named_files_exist(self):
        checked = 0
        first = "|".join(map(re.escape, self.FOLDERS))
        for page in pages():
            for path in re.findall(rf"`((?:{first})/[\w./+-]+)`", read(page)):
                if re.search(r"NAME|XXX|\.\.\.", path):
                    continue
                with self.subTest(page=page, path=path):
                    stem = os.path.join(ROOT, path)
                    self.assertTrue(any(os.path.exists(stem + end) for end in ("", ".hpp", ".cpp", ".cu")), "no such file")
                checked += 1
        self.assertGreater(checked, 50)


class Quotations(unittest.TestCase):
    def test_quoted_text_is_the_file_s(self):
        """A fenced block below `<!-- from PATH -->` stands in that file, line by line; "..." skips lines."""
        checked = 0
        for page in pages():
            for path, block in re.findall(r"<!-- from (\S+) -->\n+```\w*\n(.*?)^```", read(page), re.S | re.M):
                text = read(path)
                for part in re.split(r"^ *(?://|#)? ?\.\.\.\n", block, flags=re.M):
                    with self.subTest(page=page, path=path):
                        self.assertTrue(part in text, f"is not in the file:\n{part}")
                checked += 1
        self.assertGreaterEqual(checked, LEAST_QUOTED)


LEAST_QUOTED = 15


class Names(unittest.TestCase):
    """CONTRIBUTING's questions: the file and the names of each answer."""

    def test_answers_name_what_is_there(self):
        rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", read("CONTRIBUTING.md"), re.M)
        for path, names in rows:
            text = read(path)
            for name in re.findall(r"`([^`]+)`", names):
                with self.subTest(path=path, name=name):
                    self.assertTrue(name in text, "is not in the file")
        self.assertGreaterEqual(len(rows), LEAST_ANSWERS)


LEAST_ANSWERS = 20


class Instructions(unittest.TestCase):
    def test_table_of_fixed_latencies(self):
        """docs/instructions.md against the opcode table, the classes' names and the V100's page."""
        classes = dict(re.findall(r"^OP\((\w+), (\w+),", read("src/trace/opcodes_table.inc"), re.M))
        names = dict(re.findall(r'\{OpClass::(\w+), "(\w+)"', read("src/config/schema_pipes.cpp")))
        v100 = read("docs/config/v100.md")
        table = read("docs/instructions.md").split("<!-- fixed")[1].split("<!-- end -->")[0]
        rows = re.findall(r"^\| ([A-Z0-9, ]+) \| `pipe\.(\w+)` \| (\w+) \| (\d+) \| (\d+) \|$", table, re.M)
        self.assertGreaterEqual(len(rows), 12)
        for opcodes, pipe, unit, latency, interval in rows:
            with self.subTest(pipe=pipe):
                self.assertEqual({names[classes[opcode]] for opcode in opcodes.split(", ")}, {pipe})
                values = dict(re.findall(r"^\| `(\w+)` \| (\w+)", v100.split(f"## pipe.{pipe}\n")[1].split("\n## ")[0], re.M))
                self.assertEqual((unit, latency, interval), (values["units"], values["latency"], values["interval"]))

    def test_every_stall_has_a_place(self):
        page = read("docs/instructions.md")
        stalls = re.findall(r'Descriptor\{"stalls\.(\w+)"', read("src/stats/descriptors.cpp"))
        self.assertGreaterEqual(len(stalls), 14)
        for stall in stalls:
            with self.subTest(stall=stall):
                self.assertIn(f"`{stall}`", page)


class Generated(unittest.TestCase):
    def test_summaries(self):
        """docs/accuracy.md and docs/speed.md say what the pages of docs/results say."""
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([sys.executable, os.path.join(ROOT, "tools", "summaries.py"), "--out", out], check=True)
            for page in ("accuracy.md", "speed.md"):
                with open(os.path.join(out, page)) as f:
                    self.assertEqual(f.read(), read(os.path.join("docs", page)), "./dev docs writes it again")

    def test_architecture(self):
        """docs/architecture.svg shows today's folders and #include lines."""
        with tempfile.TemporaryDirectory() as out:
            picture = os.path.join(out, "architecture.svg")
            subprocess.run([sys.executable, os.path.join(ROOT, "tools", "architecture.py"), "--out", picture], check=True)
            with open(picture) as f:
                self.assertEqual(f.read(), read("docs/architecture.svg"), "./dev docs writes it again")

    def test_what_follows_from_other_arrows_is_left_out(self):
        sys.path.insert(0, os.path.join(ROOT, "tools"))
        import architecture
        edges, far = architecture.reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()})
        self.assertEqual(edges, [("a", "b"), ("b", "c")])
        self.assertEqual(far["a"], {"b", "c"})
        with self.assertRaisesRegex(Exception, "a includes itself"):
            architecture.reduced({"a": {"b"}, "b": {"a"}})


class Packaging(unittest.TestCase):
    """packaging/ and what `./dev` and CMake need: one list of libraries in several places."""

    SPACK = {"g++": "cxx", "cmake": "cmake", "ninja-build": "ninja", "libboost-program-options-dev": "boost",
             "libboost-iostreams-dev": "boost", "zlib1g-dev": "zlib-api", "libzstd-dev": "zstd", "liblz4-dev": "lz4",
             "libfmt-dev": "fmt", "nlohmann-json3-dev": "nlohmann-json", "libtomlplusplus-dev": "tomlplusplus", "make": "gmake"}
    TESTS_ONLY = {"catch2", "python3", "dpkg-dev", "file"}

    def test_recipe_depends_on_what_dev_installs(self):
        listed = read("dev").split("\npackages_build=(")[1].split("\npackages_mpi=")[0]
        words = re.sub(r"#.*", "", listed).replace(")", " ").split()
        debian = set(words) - self.TESTS_ONLY
        recipe = read("packaging/spack/package.py")
        spack = dict(re.findall(r'^    depends_on\("([\w-]+)([^"]*)"(?:, type="build")?\)', recipe, re.M))
        self.assertEqual(set(self.SPACK), debian)
        self.assertEqual(set(self.SPACK.values()), set(spack))
        oldest = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", read("CMakeLists.txt")).group(1)
        self.assertEqual(spack["cmake"], f"@{oldest}:")
        boost, components = re.search(r"find_package\(Boost ([\d.]+) REQUIRED COMPONENTS ([\w ]+)\)", read("cmake/Lockstep.cmake")).groups()
        self.assertEqual(spack["boost"], f"@{boost}: " + " ".join(f"+{c}" for c in components.split()))
        options = re.findall(r'self\.define\("(LOCKSTEP_\w+)"', recipe)
        self.assertEqual([o for o in options if not re.search(rf"^option\({o} ", read("CMakeLists.txt"), re.M)], [])

    def test_library_s_package_needs_what_dev_installs(self):
        needed = re.search(r'CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "([^"]+)"', read("cmake/Install.cmake")).group(1)
        self.assertLessEqual(set(needed.split(", ")), set(self.SPACK))

    def test_both_containers_are_made_alike(self):
        docker = re.sub(r"^#.*\n", "", read("packaging/Dockerfile"), flags=re.M)
        apptainer = read("packaging/lockstep.def")
        self.assertEqual(re.findall(r"^FROM (\S+)", docker, re.M), re.findall(r"^From: (\S+)", apptainer, re.M))
        steps = [re.sub(r"^cd /source && (rm -rf build && )?", "", step)
                 for step in re.findall(r"^RUN (.+)", docker, re.M) + re.findall(r"^%post\n +(.+)", apptainer, re.M)]
        self.assertEqual(len(steps), 4)
        self.assertEqual(steps[:2], steps[2:])


if __name__ == "__main__":
    unittest.main()
