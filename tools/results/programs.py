"""What the sections of CUDA programs share: recordings of given binaries."""
import json
import os
import subprocess
import tempfile

from .common import Run


class Programs:
    """Binaries that nvcc made of public programs, in one folder.

    context: common.Context. folder: where the binaries lie, under the names that the sections say.
    """

    def __init__(self, context, folder):
        self.context = context
        self.folder = os.path.abspath(folder)

    def has(self, name):
        return os.path.exists(os.path.join(self.folder, name))

    def run(self, gpu, command, *options):
        """Runs a program (its name and arguments) under `lockstep exec`."""
        with tempfile.TemporaryDirectory() as out:
            program = os.path.join(self.folder, command[0])
            subprocess.run([self.context.program, "exec", "-c", gpu, "--quiet", "-o", out, *options, "--", program, *command[1:]],
                           check=True, cwd=self.folder, stdout=subprocess.DEVNULL)
            with open(os.path.join(out, "stats.json"), "rb") as f:
                raw = f.read()
            with open(os.path.join(out, "host.json")) as f:
                return Run(json.loads(raw), json.load(f), raw)

    def exec(self, gpu, command, *options):
        """Likewise; returns the parsed stats.json."""
        return self.run(gpu, command, *options).stats
