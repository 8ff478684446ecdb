"""What the sections of CUDA programs share: recordings of given binaries."""
import json
import os
import re
import subprocess
import tempfile

import command_line

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

    def run_printed(self, gpu, command, *options):
        """Runs a program (its name and arguments) under `lockstep exec`; returns the Run and what the program printed."""
        with tempfile.TemporaryDirectory() as out:
            program = os.path.join(self.folder, command[0])
            done = subprocess.run([self.context.program, "exec", "-c", gpu, "--quiet", "-o", out, *options, "--", program, *command[1:]],
                                  check=True, cwd=self.folder, stdout=subprocess.PIPE, text=True)
            with open(os.path.join(out, "stats.json"), "rb") as f:
                raw = f.read()
            with open(os.path.join(out, "host.json")) as f:
                return Run(json.loads(raw), json.load(f), raw), done.stdout

    def run(self, gpu, command, *options):
        """Likewise; returns the Run."""
        return self.run_printed(gpu, command, *options)[0]

    def exec(self, gpu, command, *options):
        """Likewise; returns the parsed stats.json."""
        return self.run(gpu, command, *options).stats

    def checked(self, gpu, command, passed, *options):
        """Likewise, of a program that checks itself: the page ends where what it prints does not match the pattern `passed`."""
        run, printed = self.run_printed(gpu, command, *options)
        if not re.search(passed, printed):
            raise command_line.Failure(f"{' '.join(command)}: its own check has not passed: {printed}")
        return run.stats
