# Libraries that programs load in place of NVIDIA's math libraries (docs/libraries.md). Each is a folder of src/libraries:
# *.cpp, exported_names.inc, and ptx/*.ptx, which make_ptx.sh makes from kernels/*.cu.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/libraries/common/*.cpp)
# Who calls a library by an interface of C has types of his own for its enumerations and structures.
add_library(lockstep_foreign_types INTERFACE)
target_compile_options(lockstep_foreign_types INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
add_library(lockstep_libraries_common STATIC ${sources})
target_link_libraries(lockstep_libraries_common PUBLIC lockstep_flags lockstep_foreign_types ${CMAKE_DL_LIBS})
set_target_properties(lockstep_libraries_common PROPERTIES POSITION_INDEPENDENT_CODE ON)

# A C++ file with lockstep::libraries::NAME::embedded_ptx(FILE), the text of ptx/FILE.ptx.
function(lockstep_embed_ptx name output)
  file(GLOB texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/libraries/${name}/ptx/*.ptx)
  set(data "")
  set(declarations "")
  set(choices "")
  foreach(text ${texts})
    get_filename_component(file ${text} NAME_WE)
    set(symbol lockstep_${name}_ptx_${file})
    string(APPEND data "${symbol}: .incbin \"${text}\"\n${symbol}_end: .byte 0\n")
    string(APPEND declarations "extern \"C\" __attribute__((visibility(\"hidden\"))) const char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND choices "  if (file == \"${file}\") return {${symbol}, ${symbol}_end};\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [=[// Generated: the kernels of one of Lockstep's CUDA libraries.
#include <string_view>

__asm__(R"(.section .rodata
@data@.text
)");
@declarations@
namespace lockstep::libraries::@name@ {
std::string_view embedded_ptx(std::string_view file);
std::string_view embedded_ptx([[maybe_unused]] std::string_view file) {
@choices@  return {};
}
}  // namespace lockstep::libraries::@name@
]=])
  set_source_files_properties(${output} PROPERTIES OBJECT_DEPENDS "${texts}")
endfunction()

# lockstep_cuda_library(NAME FILE VERSIONS VERSION... [EXPORTS PATTERN...] [USES NAME...]): src/libraries/NAME as libFILE.so.VERSION,
# for each version, with NVIDIA's names of symbol versions; targets FILE_VERSION. USES: other folders, whose functions it calls.
function(lockstep_cuda_library name file)
  cmake_parse_arguments(PARSE_ARGV 2 LIBRARY "" "" "VERSIONS;EXPORTS;USES")
  if(NOT LIBRARY_EXPORTS)
    set(LIBRARY_EXPORTS "${file}*")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/libraries/${name}/*.cpp)
  set(embedded ${CMAKE_BINARY_DIR}/libraries/${name}_ptx.cpp)
  lockstep_embed_ptx(${name} ${embedded})
  list(TRANSFORM LIBRARY_USES PREPEND lockstep_libraries_)
  set(target lockstep_libraries_${name})
  add_library(${target} STATIC ${sources} ${embedded})
  target_link_libraries(${target} PUBLIC lockstep_libraries_common ${LIBRARY_USES})
  # What is not implemented is a weak definition of a name that another file may define.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  string(REPLACE ";" "; " patterns "${LIBRARY_EXPORTS}")
  foreach(version ${LIBRARY_VERSIONS})
    set(soname lib${file}.so.${version})
    set(map ${CMAKE_BINARY_DIR}/libraries/${soname}.map)
    file(CONFIGURE OUTPUT ${map} CONTENT "${soname} { global: ${patterns}; local: *; };\n")
    add_library(${file}_${version} SHARED ${CMAKE_BINARY_DIR}/empty.cpp)
    target_link_libraries(${file}_${version} PRIVATE -Wl,--whole-archive ${target} -Wl,--no-whole-archive)
    target_link_options(${file}_${version} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-lto> -Wl,--version-script=${map} -Wl,-soname,${soname})
    set_target_properties(${file}_${version} PROPERTIES OUTPUT_NAME ${file} SUFFIX .so.${version} LINK_DEPENDS ${map})
    add_dependencies(${file}_${version} cudart_13)
    set_property(GLOBAL APPEND PROPERTY LOCKSTEP_CUDA_LIBRARIES ${file}_${version})
  endforeach()
endfunction()

lockstep_cuda_library(blas cublas VERSIONS 13 12)
lockstep_cuda_library(blaslt cublasLt VERSIONS 13 12 USES blas)
lockstep_cuda_library(solver cusolver VERSIONS 12 11 USES blas)
lockstep_cuda_library(fft cufft VERSIONS 12 11)
lockstep_cuda_library(rand curand VERSIONS 10)
lockstep_cuda_library(sparse cusparse VERSIONS 12)
lockstep_cuda_library(nccl nccl VERSIONS 2 EXPORTS nccl* pnccl*)
# Apart from the others: a program's own NCCL goes first (src/cli/child.cpp).
set_target_properties(nccl_2 PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/nccl)
lockstep_cuda_library(dnn cudnn VERSIONS 9)
