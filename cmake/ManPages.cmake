# Man pages from the program's own help: lockstep.1 and a page for each command. Variables: PROGRAM, FOLDER, VERSION.
function(help_of text)
  execute_process(COMMAND ${PROGRAM} ${ARGN} --help OUTPUT_VARIABLE output RESULT_VARIABLE code)
  if(code)
    message(FATAL_ERROR "${PROGRAM} ${ARGN} --help: exit code ${code}")
  endif()
  set(${text} "${output}" PARENT_SCOPE)
endfunction()

# write_page(NAME SUMMARY TEXT): the text as it is, between lines that man understands.
function(write_page name summary text)
  string(TOUPPER ${name} title)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  file(WRITE ${FOLDER}/${name}.1
".TH ${title} 1 \"\" \"lockstep ${VERSION}\" \"Lockstep\"
.SH NAME
${name} \\- ${summary}
.SH DESCRIPTION
.nf
${text}.fi
.SH SEE ALSO
.BR lockstep (1);
docs/ in the source, on every parameter and every counter.
")
endfunction()

file(REMOVE_RECURSE ${FOLDER})
help_of(overview)
string(REGEX MATCHALL "\n  [a-z]+ +[^\n]+" lines "${overview}")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^\n  ([a-z]+) +([^\n]+)$")
    continue()
  endif()
  set(command ${CMAKE_MATCH_1})
  set(summary "${CMAKE_MATCH_2}")
  if(command STREQUAL "lockstep")
    continue()
  endif()
  help_of(text ${command})
  write_page(lockstep-${command} "${summary}" "${text}")
endforeach()
write_page(lockstep "a deterministic, parallel, cycle-level GPU simulator" "${overview}")
