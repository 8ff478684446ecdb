file(GLOB check_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/exec/check/*.cpp)
target_sources(lockstep_exec PRIVATE ${check_sources})
target_link_libraries(lockstep_exec PRIVATE nlohmann_json::nlohmann_json)

file(GLOB alu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/exec/alu_*.cpp)
lockstep_compile_alone(${alu_sources})
# Directed rounding sets the host's rounding mode; square roots of negative numbers need no errno.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/exec/alu_directed.cpp PROPERTIES
  COMPILE_OPTIONS "-frounding-math;-fno-math-errno")
foreach(name arithmetic approx convert convert_common matrix quad_pair warpgroup)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/exec/alu_${name}.cpp PROPERTIES
    COMPILE_OPTIONS "-fno-math-errno;-fno-trapping-math")
endforeach()
