get_target_property(kind lockstep_synth TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/synth/*.cpp)
  lockstep_compile_alone(${kernels})
  target_link_libraries(lockstep_synth PRIVATE Boost::iostreams)
  # gcc 12 takes Boost's gzip writer for overlapping copies.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/synth/compressor.cpp PROPERTIES
      COMPILE_OPTIONS -Wno-restrict)
  endif()
endif()
