# What is loaded into MPI programs, beside CUDA's runtime. Only they and this library need MPI.
if(TARGET lockstep_mpi)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/messages/pmpi/*.cpp)
  add_library(lockstep_pmpi SHARED ${sources})
  set_target_properties(lockstep_pmpi PROPERTIES CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(lockstep_pmpi PRIVATE lockstep_flags MPI::MPI_CXX ${CMAKE_DL_LIBS})
  target_link_options(lockstep_pmpi PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-lto>)
  install(TARGETS lockstep_pmpi LIBRARY DESTINATION lib/lockstep COMPONENT mpi)
endif()
