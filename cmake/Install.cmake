# What is installed: the program with its runtime libraries, man pages and shell completion (component `program`), the library with
# its headers (`development`), and what joins the program to MPI (`mpi`, where the build found one). CPack makes a Debian package of each.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # tests are not installed: ./dev builds what is
include(CMakePackageConfigHelpers)

# The program finds its libraries from its own place, so that an installation may be moved and linked to. The
# configurations are in the program.
install(TARGETS lockstep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
set(beside_program ${cuda_libraries})
list(REMOVE_ITEM beside_program nccl_2)
install(TARGETS cudart_12 cudart_13 cuda_driver nvml lockstep_hook lockstep_clock ${beside_program} LIBRARY DESTINATION lib/lockstep COMPONENT program)
install(TARGETS nccl_2 LIBRARY DESTINATION lib/lockstep/nccl COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/lockstep.bash RENAME lockstep
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)

# Man pages are the texts of --help.
set(pages ${CMAKE_BINARY_DIR}/man)
add_custom_command(OUTPUT ${pages}/lockstep.1
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:lockstep> -DFOLDER=${pages} -DVERSION=${PROJECT_VERSION}
          -P ${PROJECT_SOURCE_DIR}/cmake/ManPages.cmake
  DEPENDS lockstep ${PROJECT_SOURCE_DIR}/cmake/ManPages.cmake VERBATIM)
add_custom_target(man ALL DEPENDS ${pages}/lockstep.1)
install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)

# The library: one archive of what a simulation needs.
add_library(lockstep_archive STATIC)
foreach(part util uvm trace synth config stats energy sim icnt link mem core net sampling ranks host gpu api)
  get_target_property(kind lockstep_${part} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY")
    target_sources(lockstep_archive PRIVATE $<TARGET_OBJECTS:lockstep_${part}>)
  endif()
endforeach()
set_target_properties(lockstep_archive PROPERTIES OUTPUT_NAME lockstep EXPORT_NAME lockstep LINKER_LANGUAGE CXX)
target_compile_features(lockstep_archive INTERFACE cxx_std_20)
target_include_directories(lockstep_archive INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(lockstep_archive INTERFACE fmt::fmt Boost::iostreams ZLIB::ZLIB zstd ${CMAKE_DL_LIBS}
                      $<$<BOOL:${OpenMP_CXX_FOUND}>:OpenMP::OpenMP_CXX>)
target_link_options(lockstep_archive INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fno-lto>)  # its objects hold ordinary code too
install(TARGETS lockstep_archive EXPORT lockstep ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/lockstep)
install(EXPORT lockstep NAMESPACE lockstep:: FILE lockstepTargets.cmake DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/lockstepConfig.cmake.in ${CMAKE_BINARY_DIR}/lockstepConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/lockstepConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/lockstepConfig.cmake ${CMAKE_BINARY_DIR}/lockstepConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT development)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lockstep)
set(CPACK_PACKAGE_VENDOR "Lockstep")
set(CPACK_PACKAGE_CONTACT "the Lockstep developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Cycle-level GPU simulator for SASS traces, PTX and CUDA programs")
set(CPACK_PACKAGE_DESCRIPTION "Lockstep runs SASS traces, PTX kernels and unmodified CUDA programs on a cycle-level model of an
NVIDIA-class GPU, in parallel and without a GPU. Every number of threads gives the same statistics.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})
set(CPACK_STRIP_FILES ON)
# A package for each component, so that a machine that only simulates needs neither MPI nor the library for developers.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME lockstep)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "lockstep-dev, lockstep-mpi")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The simulator as a C++ library, with its headers, for programs around it.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME lockstep-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libboost-iostreams-dev, libfmt-dev, libzstd-dev, zlib1g-dev")
if(TARGET lockstep_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_COMPONENT_MPI_DESCRIPTION "Lets mpirun and srun divide one simulation among several processes.")
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME lockstep-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "lockstep (= ${PROJECT_VERSION})")
endif()
include(CPack)
