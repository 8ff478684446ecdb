get_target_property(kind lockstep_study TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  find_package(tomlplusplus REQUIRED)
  # Only toml_reader.cpp sees it: its headers take long to parse.
  target_link_libraries(lockstep_study PRIVATE tomlplusplus::tomlplusplus)
  target_link_libraries(lockstep_study PUBLIC nlohmann_json::nlohmann_json)
endif()
