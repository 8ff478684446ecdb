# The INI files of configs/ become part of the program, so that `-c v100` needs no file.
get_target_property(kind lockstep_config TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  file(GLOB inis CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/configs/*.ini)
  list(SORT inis)
  string(REPLACE ";" "|" joined "${inis}")
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded_configs.cpp)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${generated} "-DINPUTS=${joined}" -P ${PROJECT_SOURCE_DIR}/src/config/embed.cmake
    DEPENDS ${inis} ${PROJECT_SOURCE_DIR}/src/config/embed.cmake
    VERBATIM)
  target_sources(lockstep_config PRIVATE ${generated})
endif()
