"""What the sections of CUDA programs share: recordings of given binaries, and rows kept apart as a check."""
import hashlib
import json
import os
import subprocess
import tempfile


def is_check(name):
    """Whether the row of this name is one from which nothing was derived: half of all, by a fixed hash."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


class Programs:
    """Binaries that nvcc made of public programs, in one folder.

    context: common.Context. folder: where the binaries lie, under the names that the sections say.
    """

    def __init__(self, context, folder):
        self.context = context
        self.folder = os.path.abspath(folder)

    def has(self, name):
        return os.path.exists(os.path.join(self.folder, name))

    def exec(self, gpu, command, *options, variables=None):
        """Runs a program (its name and arguments) under `lockstep exec`; returns the parsed stats.json."""
        with tempfile.TemporaryDirectory() as out:
            self._call("exec", "-c", gpu, "--quiet", "-o", out, *options, command=command, variables=variables)
            with open(os.path.join(out, "stats.json")) as f:
                return json.load(f)

    def record(self, trace, gpu, command, *options, variables=None):
        """Records a program's kernels into the compact trace `trace`."""
        self._call("record", trace, "-c", gpu, *options, command=command, variables=variables)

    def alone(self, trace, gpu, kernel):
        """Statistics of one kernel of a trace (from 1), simulated by itself with cold caches."""
        run = self.context.run(trace, gpu, "--kernels", str(kernel), "--set", "host.warms_l2=false")
        return run.stats["kernels"][0]

    def kernels(self, trace):
        """How many kernels a trace has."""
        return len(json.loads(self.context.call("info", trace, "--json"))["kernels"])

    def _call(self, *arguments, command, variables):
        program = os.path.join(self.folder, command[0])
        subprocess.run([self.context.program, *arguments, "--", program, *command[1:]], check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL, env={**os.environ, **(variables or {})})
