"""The traces that are measured, and their forms: one compact file, text, text in .gz."""
import collections
import glob
import gzip
import lzma
import os
import shutil

from command_line import output_of

# origin: bundled, generated, peer, real. source: a folder, or the generator's arguments.
Case = collections.namedtuple("Case", "name gpu origin source")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUNDLED = ["streaming", "sgemm", "random", "chain", "mixed"]
# The kernels on which Accel-Sim was measured, in that size.
GENERATED = {
    "streaming": ("streaming", "--ctas", "2560"),
    "sgemm": ("sgemm", "--tiles-x", "32", "--tiles-y", "20", "--ktiles", "3"),
    "random": ("random", "--ctas", "1280", "--loads", "3"),
    "chain": ("chain", "--ctas", "2", "--iterations", "200"),
}
# Likewise, but for more than a second: two CTAs must not be slower on more threads, and start and copies weigh little
# beside a kernel that fills the GPU, as in a run for which a cluster is asked.
LONG = {
    "sgemm, long": ("sgemm", "--tiles-x", "32", "--tiles-y", "20", "--ktiles", "15", "--launches", "4"),
    "chain, long": ("chain", "--ctas", "2", "--iterations", "32000"),
}
PEERS = ["vectoradd-2560", "sgemm-640", "random-1280", "tiny-2", "mixed-96"]
REAL = ["vectoradd-a100", "bfs-a100"]
FORMS = ["compact", "text", "gz"]
QUICK = 3  # level of the compact form's compression: the records that are read are the same at every level


def bundled():
    return [Case(name + ", small", "v100", "bundled", os.path.join(ROOT, "traces", name)) for name in BUNDLED]


def generated():
    return [Case(name, "v100", "generated", arguments) for name, arguments in {**GENERATED, **LONG}.items()]


def found_in(folder, origin, names, gpu):
    """The named traces that are there."""
    return [Case(name, gpu, origin, os.path.join(folder, name)) for name in names
            if os.path.isdir(os.path.join(folder, name))]


def _call(program, *arguments):
    output_of([program, *arguments])


def _read(path):
    openers = {".xz": lzma.open, ".gz": gzip.open}
    return openers.get(os.path.splitext(path)[1], open)(path, "rb")


def _repack(source, target, form):
    """The same trace folder with its kernel files as text or .gz."""
    os.makedirs(target)
    for path in sorted(glob.glob(os.path.join(source, "*.traceg*"))):
        name = os.path.basename(path).split(".traceg")[0] + ".traceg"
        opened = gzip.open(os.path.join(target, name + ".gz"), "wb", compresslevel=6) if form == "gz" else open(
            os.path.join(target, name), "wb")
        with _read(path) as reader, opened as writer:
            shutil.copyfileobj(reader, writer, 1 << 20)
    suffix = ".gz" if form == "gz" else ""
    with open(os.path.join(source, "kernelslist.g")) as f, open(os.path.join(target, "kernelslist.g"), "w") as out:
        for line in f.read().splitlines():
            out.write((line.split(".traceg")[0] + ".traceg" + suffix if ".traceg" in line else line) + "\n")


def prepare(program, case, form, folder):
    """Makes one form of a case below `folder`, when it is not there yet, and returns its path."""
    base = os.path.join(folder, f"{case.origin}-{case.name}".replace(", ", "-"))
    path = f"{base}.lst" if form == "compact" else f"{base}.{form}"
    if os.path.exists(path):
        return path
    if case.origin == "generated":
        source, made = path + ".new", True
        _call(program, "synth", *case.source, "--out", source, "--compress", "gz" if form == "gz" else "none")
    else:
        source, made = case.source, False
    if form == "compact":
        _call(program, "convert", source, path, "--level", str(QUICK))
        if made:
            shutil.rmtree(source)
    elif made:
        os.rename(source, path)
    else:
        _repack(source, path + ".new", form)
        os.rename(path + ".new", path)
    return path
