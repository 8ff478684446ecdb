# Directed rounding sets the host's rounding mode; square roots of negative numbers need no errno.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/exec/alu_directed.cpp PROPERTIES
  COMPILE_OPTIONS "-frounding-math;-fno-math-errno")
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/exec/alu_arithmetic.cpp
  ${PROJECT_SOURCE_DIR}/src/exec/alu_approx.cpp
  ${PROJECT_SOURCE_DIR}/src/exec/alu_convert.cpp ${PROJECT_SOURCE_DIR}/src/exec/alu_convert_common.cpp
  ${PROJECT_SOURCE_DIR}/src/exec/alu_matrix.cpp
  ${PROJECT_SOURCE_DIR}/src/exec/alu_quad_pair.cpp ${PROJECT_SOURCE_DIR}/src/exec/alu_warpgroup.cpp PROPERTIES COMPILE_OPTIONS "-fno-math-errno;-fno-trapping-math")
