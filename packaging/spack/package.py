"""A Spack recipe. Copy it to packages/lockstep/package.py of a Spack repository of your own; then, in Lockstep's source folder,
`spack dev-build lockstep@main`."""
from spack.package import *


class Lockstep(CMakePackage):
    """A deterministic, parallel, cycle-level GPU simulator for SASS traces, PTX and CUDA programs."""

    version("main", branch="main")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("boost@1.74: +program_options +iostreams")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("lz4")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("tomlplusplus@3:")

    generator("ninja")

    def cmake_args(self):
        return [self.define("LOCKSTEP_TESTS", False), self.define("LOCKSTEP_PCH", True)]
