# Writes OUTPUT, a C++ file with the texts of INPUTS (INI files, separated by |), read by gpu_models.cpp.
# FUNCTION returns them.
# cmake -DOUTPUT=... -DINPUTS=a.ini|b.ini -DFUNCTION=... -P embed.cmake
string(REPLACE "|" ";" INPUTS "${INPUTS}")
set(entries "")
foreach(input IN LISTS INPUTS)
  get_filename_component(name ${input} NAME_WE)
  file(READ ${input} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${hex}")
  # Pieces of 1000 bytes: compilers limit the length of one literal.
  set(literal "")
  string(LENGTH "${bytes}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${bytes}" ${at} 4000 part)
    string(APPEND literal "\n     \"${part}\"")
    math(EXPR at "${at} + 4000")
  endwhile()
  string(APPEND entries "    {\"${name}\",${literal}},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from INI files.
#include \"config/gpu_models.hpp\"

namespace lockstep::config {
namespace {
constexpr EmbeddedIni kInis[] = {
${entries}};
}  // namespace
std::span<const EmbeddedIni> ${FUNCTION}() { return kInis; }
}  // namespace lockstep::config
")
