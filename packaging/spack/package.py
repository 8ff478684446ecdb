"""A Spack recipe. Copy it to packages/lockstep/package.py of a Spack repository of your own; then, in Lockstep's source folder,
`spack dev-build lockstep@main`."""
from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
except ImportError:  # Spack before 1.0, where spack.package has both
    pass


class Lockstep(CMakePackage):
    """A deterministic, parallel, cycle-level GPU simulator for SASS traces, PTX and CUDA programs."""

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
            self.define("LOCKSTEP_UNITY", True),
            self.define("LOCKSTEP_LTO", True),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", not self.spec.satisfies("+mpi")),
        ]
