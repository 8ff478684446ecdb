"""A Spack recipe. Make packages/lockstep/package.py of a Spack repository of your own a symbolic link to it; then
`spack install lockstep` builds the branch main of this source folder, and `spack dev-build lockstep@main` in it what is there."""
from pathlib import Path

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
except ImportError:  # Spack before 1.0, where spack.package has both
    pass


class Lockstep(CMakePackage):
    """A deterministic, parallel, cycle-level GPU simulator for SASS traces, PTX and CUDA programs."""

    git = f"file://{Path(__file__).resolve().parents[2]}"  # the folder that the link leads to

    version("main", branch="main")

    variant("mpi", default=False, description="Let mpirun and srun divide one simulation among several processes")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("gmake", type="build")  # link-time optimisation on several cores
    depends_on("boost@1.74: +program_options +iostreams")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("lz4")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("tomlplusplus@3:")
    depends_on("mpi", when="+mpi")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("LOCKSTEP_TESTS", False),
            self.define("LOCKSTEP_WERROR", False),  # headers of other versions of the libraries may warn
            self.define("LOCKSTEP_UNITY", True),
            self.define("LOCKSTEP_LTO", True),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", not self.spec.satisfies("+mpi")),
        ]
