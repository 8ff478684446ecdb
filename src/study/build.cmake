get_target_property(kind lockstep_study TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  find_package(tomlplusplus REQUIRED)
  # Only toml_reader.cpp sees it: its headers take long to parse.
  target_link_libraries(lockstep_study PRIVATE tomlplusplus::tomlplusplus)
  target_link_libraries(lockstep_study PUBLIC nlohmann_json::nlohmann_json)
endif()

set(requeue ${PROJECT_SOURCE_DIR}/tools/slurm/requeue.sh)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${requeue})
file(READ ${requeue} LOCKSTEP_REQUEUE_SCRIPT)
configure_file(${CMAKE_CURRENT_LIST_DIR}/requeue_script.hpp.in ${PROJECT_BINARY_DIR}/generated/study/requeue_script.hpp @ONLY)
target_include_directories(lockstep_study PRIVATE ${PROJECT_BINARY_DIR}/generated)
