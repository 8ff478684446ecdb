get_target_property(kind lockstep_report TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  target_link_libraries(lockstep_report PUBLIC nlohmann_json::nlohmann_json)
endif()
