"""The tables of programs: one TOML file for each suite."""
import dataclasses
import pathlib
import tomllib

ORDER = ["cuda_samples", "cuda_samples_driver", "rodinia", "polybench", "lulesh", "microbenchmarks", "hecbench",
         "cutlass", "cuda_samples_multi_gpu", "hecbench_multi_gpu", "multi_gpu_programming_models", "nccl", "babelstream",
         "gpu_benches", "shoc", "pannotia", "moderngpu", "llm_c", "parboil", "xsbench", "rsbench", "minibude", "mixbench",
         "nvbandwidth", "altis", "stdgpu", "lonestar", "kokkos_tutorials", "kokkos_kernels",
         "thrust_tests", "cub_tests", "libcudacxx_tests", "cuda_libraries"]


@dataclasses.dataclass
class Suite:
    key: str
    title: str
    origin: str
    programs: list
    note: str = ""
    fail: str = ""  # what no program's output may match, beside its own


@dataclasses.dataclass
class Program:
    name: str
    suite: Suite = None
    config: str = "v100"
    gpus: int = 1  # of the system that config names
    args: list = dataclasses.field(default_factory=list)
    runs: list = None
    options: list = dataclasses.field(default_factory=list)  # of lockstep exec
    environment: dict = dataclasses.field(default_factory=dict)
    inputs: list = dataclasses.field(default_factory=list)
    compare: dict = None
    check: str = ""
    changed: list = dataclasses.field(default_factory=list)
    timed: bool = False
    code: int = 0  # of its exit where all is right
    note: str = ""
    checked: str = ""  # by what, where it is not by the program itself
    passes: str = ""  # `pass`, `fail` and `skip` of the table
    fails: str = ""
    skips: str = ""
    shows: str = ""


def suite_keys():
    here = pathlib.Path(__file__).parent
    return [key for key in ORDER if (here / f"{key}.toml").exists()]


def suites():
    here = pathlib.Path(__file__).parent
    return [Suite(key=key, **tomllib.loads((here / f"{key}.toml").read_text())) for key in suite_keys()]


def programs():
    """All programs, in the order of the tables."""
    for suite in suites():
        for row in suite.programs:
            yield Program(suite=suite, **{{"pass": "passes", "fail": "fails", "skip": "skips"}.get(key, key): value
                                          for key, value in row.items()})
