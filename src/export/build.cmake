get_target_property(kind lockstep_export TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  target_link_libraries(lockstep_export PUBLIC nlohmann_json::nlohmann_json)
endif()
