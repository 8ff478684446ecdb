get_target_property(kind lockstep_correlate TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  target_link_libraries(lockstep_correlate PRIVATE nlohmann_json::nlohmann_json)
endif()
