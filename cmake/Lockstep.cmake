# Build rules that every folder shares.
find_package(Boost 1.74 REQUIRED COMPONENTS program_options iostreams)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3 REQUIRED)

add_library(lockstep_flags INTERFACE)
# No fused multiply-add and no reassociation: the same bytes from every compiler and host.
target_compile_options(lockstep_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion $<$<BOOL:${LOCKSTEP_WERROR}>:-Werror>
                       -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(lockstep_flags INTERFACE -Wno-pass-failed)  # loops under sanitizers are no vectors
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=[^ ]*address" AND NOT LOCKSTEP_FUZZ)
  # Libraries that are loaded into foreign programs bring AddressSanitizer's own with them, as GCC's do.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-runtime-dir OUTPUT_VARIABLE sanitizer_folder
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  add_link_options(-shared-libasan)
  set(CMAKE_BUILD_RPATH ${sanitizer_folder})
endif()
if(LOCKSTEP_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(lockstep_flags INTERFACE -Wno-subobject-linkage)  # it takes a .cpp that another one includes for a header
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of GCC 12 on std::string (its bugs 105329, 105651, 105562).
  target_compile_options(lockstep_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(lockstep_flags INTERFACE -march=x86-64-v2)  # popcnt; every server since 2009
endif()
target_include_directories(lockstep_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(lockstep_flags INTERFACE fmt::fmt)
if(LOCKSTEP_OPENMP)
  find_package(OpenMP)
endif()
if(OpenMP_CXX_FOUND)
  target_link_libraries(lockstep_flags INTERFACE OpenMP::OpenMP_CXX)
else()
  message(STATUS "Without OpenMP: simulations run on one thread")
  target_compile_options(lockstep_flags INTERFACE -Wno-unknown-pragmas)
endif()

# lockstep_library(NAME DEPENDENCY...): src/NAME/*.cpp as liblockstep_NAME.a (header-only when there is none).
function(lockstep_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  list(TRANSFORM ARGN PREPEND lockstep_ OUTPUT_VARIABLE dependencies)
  if(sources)
    add_library(lockstep_${name} STATIC ${sources})
    target_link_libraries(lockstep_${name} PUBLIC lockstep_flags ${dependencies})
  else()
    add_library(lockstep_${name} INTERFACE)
    target_link_libraries(lockstep_${name} INTERFACE lockstep_flags ${dependencies})
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/${name}/build.cmake)
    include(${PROJECT_SOURCE_DIR}/src/${name}/build.cmake)
  endif()
endfunction()

# lockstep_compile_alone(FILE...): these files define the same names as others of their folder, each for its entry of a registry.
function(lockstep_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# lockstep_optimise_program(PROGRAM NAME...): optimises PROGRAM and these libraries across their files. The objects
# hold ordinary code too: all else, the tests, links as fast as without it. With LOCKSTEP_LTO, GCC, release builds.
function(lockstep_optimise_program program)
  if(NOT LOCKSTEP_LTO OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  set(flags -flto -ffat-lto-objects)
  set(link_flags -flto=auto -O3)
  find_program(LOCKSTEP_MAKE make)
  if(NOT LOCKSTEP_MAKE)
    message(WARNING "Without make (Debian's package make) GCC's link-time optimisation runs on one core")
  endif()
  if(LOCKSTEP_PROFILE STREQUAL "MAKE")
    list(APPEND flags -fprofile-generate)
    list(APPEND link_flags -fprofile-generate)
  elseif(LOCKSTEP_PROFILE STREQUAL "USE")  # what the counted runs did not execute is compiled as without counts
    list(APPEND flags -fprofile-use -fprofile-partial-training -Wno-missing-profile)
  endif()
  add_link_options($<$<CONFIG:Release>:-fno-lto>)  # what else is linked from them
  foreach(name ${ARGN})
    target_compile_options(lockstep_${name} PRIVATE "$<$<CONFIG:Release>:${flags}>")
    if(LOCKSTEP_PROFILE)  # counts are kept by the path that the compiler is given: ccache rewrites it
      set_target_properties(lockstep_${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
    endif()
  endforeach()
  target_link_options(${program} PRIVATE "$<$<CONFIG:Release>:${link_flags}>")
endfunction()
