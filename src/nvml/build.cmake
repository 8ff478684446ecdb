# What programs load in place of NVIDIA's management library.
set(map ${CMAKE_CURRENT_SOURCE_DIR}/src/nvml/exports.map)
set_target_properties(lockstep_nvml PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(nvml SHARED ${CMAKE_BINARY_DIR}/empty.cpp)
target_link_libraries(nvml PRIVATE -Wl,--whole-archive lockstep_nvml -Wl,--no-whole-archive)
target_link_options(nvml PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-lto> -Wl,--version-script=${map}
                    -Wl,-soname,libnvidia-ml.so.1)
set_target_properties(nvml PROPERTIES OUTPUT_NAME nvidia-ml SUFFIX .so.1 LINK_DEPENDS ${map})
