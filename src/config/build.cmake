# The INI files of configs/ and systems/ become part of the program, so that `-c v100` needs no file.
function(lockstep_embed_inis folder function)
  file(GLOB inis CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.ini)
  list(SORT inis)
  string(REPLACE ";" "|" joined "${inis}")
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded_${folder}.cpp)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${generated} "-DINPUTS=${joined}" -DFUNCTION=${function}
            -P ${PROJECT_SOURCE_DIR}/src/config/embed.cmake
    DEPENDS ${inis} ${PROJECT_SOURCE_DIR}/src/config/embed.cmake
    VERBATIM)
  lockstep_compile_alone(${generated})
  target_sources(lockstep_config PRIVATE ${generated})
endfunction()

get_target_property(kind lockstep_config TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  file(GLOB topologies CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/config/topology_*.cpp)
  lockstep_compile_alone(${topologies})
  lockstep_embed_inis(configs embedded_inis)
  lockstep_embed_inis(systems embedded_system_inis)
endif()
