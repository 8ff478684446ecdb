find_path(LZ4_INCLUDE_DIR lz4.h REQUIRED)
find_library(LZ4_LIBRARY lz4 REQUIRED)
target_include_directories(lockstep_cuda SYSTEM PRIVATE ${LZ4_INCLUDE_DIR} ${ZSTD_INCLUDE_DIR})
target_link_libraries(lockstep_cuda PRIVATE ${LZ4_LIBRARY} ${ZSTD_LIBRARY})

# What programs load in place of NVIDIA's runtime: one library by each name that CUDA 12 and 13 programs ask for.
foreach(library lockstep_util lockstep_trace lockstep_uvm lockstep_config lockstep_ptx lockstep_exec lockstep_lower lockstep_shmem lockstep_cuda)
  set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${library} PRIVATE -fno-semantic-interposition)
endforeach()
foreach(version 12 13)
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/src/cuda/exports_${version}.map)
  file(WRITE ${CMAKE_BINARY_DIR}/empty.cpp "")
  add_library(cudart_${version} SHARED ${CMAKE_BINARY_DIR}/empty.cpp)
  target_link_libraries(cudart_${version} PRIVATE -Wl,--whole-archive lockstep_cuda -Wl,--no-whole-archive)
  # Optimising at link time makes programs that are built for speed faster; here it would only cost build time.
  target_link_options(cudart_${version} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-lto> -Wl,--version-script=${map}
                      -Wl,-soname,libcudart.so.${version})
  set_target_properties(cudart_${version} PROPERTIES OUTPUT_NAME cudart SUFFIX .so.${version} LINK_DEPENDS ${map})
endforeach()
add_library(lockstep_hook SHARED ${CMAKE_CURRENT_SOURCE_DIR}/src/cuda/preload/hook.cpp
            ${CMAKE_CURRENT_SOURCE_DIR}/src/cuda/preload/runtime_archives.cpp
            ${CMAKE_CURRENT_SOURCE_DIR}/src/cuda/preload/static_runtime.cpp
            ${CMAKE_CURRENT_SOURCE_DIR}/src/cuda/preload/touch.cpp)
target_link_libraries(lockstep_hook PRIVATE lockstep_flags ${CMAKE_DL_LIBS})
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # whose own libraries have to be initialised first
  target_link_options(lockstep_hook PRIVATE -Wl,-z,initfirst)
endif()
add_library(lockstep_clock SHARED ${CMAKE_CURRENT_SOURCE_DIR}/src/cuda/preload/clock.cpp)
target_include_directories(lockstep_clock PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries(lockstep_clock PRIVATE lockstep_flags ${CMAKE_DL_LIBS})
# The driver API's name for the same library: programs that are linked with it or that load it find all its functions
# in what it depends on.
add_library(cuda_driver SHARED ${CMAKE_BINARY_DIR}/empty.cpp)
target_link_libraries(cuda_driver PRIVATE -Wl,--no-as-needed cudart_13)
target_link_options(cuda_driver PRIVATE -Wl,-soname,libcuda.so.1)
set_target_properties(cuda_driver PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1 BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
