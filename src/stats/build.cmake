get_target_property(kind lockstep_stats TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  target_link_libraries(lockstep_stats PRIVATE nlohmann_json::nlohmann_json)
endif()
