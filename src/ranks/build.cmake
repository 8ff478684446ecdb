target_link_libraries(lockstep_ranks PRIVATE ${CMAKE_DL_LIBS})

# The module that knows MPI, where there is one. The program loads it from its own place.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
if(MPI_CXX_FOUND)
  add_library(lockstep_mpi SHARED ${PROJECT_SOURCE_DIR}/src/ranks/mpi/module.cpp)
  target_link_libraries(lockstep_mpi PRIVATE lockstep_flags MPI::MPI_CXX)
  install(TARGETS lockstep_mpi LIBRARY DESTINATION lib/lockstep COMPONENT mpi)
  message(STATUS "MPI found: mpirun may spread a system's devices over processes")
else()
  message(STATUS "Without MPI: simulations run in one process")
endif()
