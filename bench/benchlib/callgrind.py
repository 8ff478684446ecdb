"""Host instructions of a run, counted by valgrind's callgrind: the same from run to run, however busy the machine."""
import os
import re
import shutil
import subprocess
import tempfile

from command_line import Failure, ended

NAME = re.compile(r"c?fn=\((\d+)\)(?: (.*))?")


class Profile:
    """total: all instructions. inclusive(name): those of a function and all that it calls."""

    def __init__(self, path):
        self.total, self.calls = 0, {}
        names, callee = {}, None
        with open(path) as f:
            for line in f:
                if line.startswith(("fn=", "cfn=")):
                    number, name = NAME.match(line).groups()
                    names.setdefault(number, name)
                    if line.startswith("cfn="):
                        callee = names[number]
                elif line.startswith("calls="):  # the next line has the cost of these calls
                    cost = int(next(f).split()[1])
                    self.calls[callee] = self.calls.get(callee, 0) + cost
                elif line.startswith(("totals:", "summary:")):
                    self.total = int(line.split()[1])

    def inclusive(self, function):
        """Of all calls of the functions with this qualified name; 0 when there are none."""
        return sum(cost for name, cost in self.calls.items() if name.split("(")[0] == function)


def available():
    return shutil.which("valgrind") is not None


def profile(program, trace, gpu, out, *options):
    """Simulates on one thread under callgrind; files of the run go to the folder `out`."""
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "callgrind")
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={record}", program, "run", trace,
                               "-c", gpu, "-q", "-t", "1", "-o", out, *options],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Failure(f"callgrind of {trace}: {ended([program], done.returncode, done.stderr)}")
        return Profile(record)
