get_target_property(kind lockstep_cli TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  target_link_libraries(lockstep_cli PRIVATE Boost::program_options nlohmann_json::nlohmann_json)
endif()
