"""The tables of programs: one TOML file for each suite."""
import dataclasses
import pathlib
import tomllib

ORDER = ["cuda_samples", "cuda_samples_driver", "rodinia", "polybench", "lulesh", "microbenchmarks", "hecbench",
         "cutlass"]


@dataclasses.dataclass
class Suite:
    key: str
    title: str
    checkout: str
    origin: str
    programs: list
    flags: list = dataclasses.field(default_factory=list)
    note: str = ""
    fail: str = ""  # what no program's output may match, beside its own


@dataclasses.dataclass
class Program:
    name: str
    folder: pathlib.Path
    sources: list
    suite: Suite = None
    checkout: pathlib.Path = None
    flags: list = dataclasses.field(default_factory=list)
    arch: int | str = 75  # "90a": with what only that architecture has
    config: str = "v100"
    args: list = dataclasses.field(default_factory=list)
    runs: list = None
    inputs: list = dataclasses.field(default_factory=list)
    links: list = dataclasses.field(default_factory=lambda: ["data"])
    compare: dict = None
    check: str = ""
    modules: list = dataclasses.field(default_factory=list)
    replace: list = dataclasses.field(default_factory=list)
    timed: bool = False
    note: str = ""
    checked: str = ""  # by what, where it is not by the program itself
    passes: str = ""  # `pass`, `fail` and `skip` of the table
    fails: str = ""
    skips: str = ""
    shows: str = ""

    libraries = ""  # where the libraries of lockstep are

    def expand(self, text):
        return text.format(folder=self.folder, checkout=self.checkout, checkouts=self.checkout.parent,
                           tools=pathlib.Path(__file__).parent, libraries=self.libraries)


def suite_keys():
    here = pathlib.Path(__file__).parent
    return [key for key in ORDER if (here / f"{key}.toml").exists()]


def suites():
    here = pathlib.Path(__file__).parent
    return [Suite(key=key, **tomllib.loads((here / f"{key}.toml").read_text())) for key in suite_keys()]


def programs(checkouts):
    """All programs, in the order of the tables."""
    for suite in suites():
        checkout = checkouts / suite.checkout
        for row in suite.programs:
            row = {{"pass": "passes", "fail": "fails", "skip": "skips"}.get(key, key): value for key, value in row.items()}
            row["folder"] = checkout / row["folder"]
            yield Program(suite=suite, checkout=checkout, **row)
