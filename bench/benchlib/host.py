"""Runs of the program as processes, measured from outside."""
import collections
import json
import os
import subprocess
import tempfile
import time

from command_line import Failure, ended

# wall, cpu: seconds; kernels: wall seconds while a kernel ran. memory: bytes at the peak. host: host.json. stats: bytes of stats.json.
Run = collections.namedtuple("Run", "wall cpu kernels memory host stats")


def cores():
    """Numbers of the cores that this process may use, in order."""
    return sorted(os.sched_getaffinity(0))


def describe():
    """The machine in words, and what else it has to do: above its cores wall times and threads say little."""
    model = "unknown processor"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{len(cores())} cores of {model}, load average {os.getloadavg()[1]:.1f}"


# Results go there: a disk takes milliseconds to keep what the first kernel of a run left, which is no part of a speed.
MEMORY = "/dev/shm"


def simulate(program, trace, gpu, threads, *options):
    """One run on as many cores as threads; a failing one ends the benchmark."""
    pinned = set(cores()[:threads])
    with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as out:
        command = [program, "run", trace, "-c", gpu, "-q", "-t", str(threads), "-o", out, *options]
        start = time.monotonic()
        process = subprocess.Popen(command, preexec_fn=lambda: os.sched_setaffinity(0, pinned),
                                   stderr=subprocess.PIPE, text=True)
        messages = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.stderr.close()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Failure(ended(command, process.returncode, messages))
        with open(os.path.join(out, "host.json")) as f:
            host = json.load(f)
        with open(os.path.join(out, "stats.json"), "rb") as f:
            stats = f.read()
    return Run(wall, usage.ru_utime + usage.ru_stime, host["seconds_kernels"], usage.ru_maxrss * 1024, host, stats)
