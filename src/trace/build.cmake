get_target_property(kind lockstep_trace TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  target_link_libraries(lockstep_trace PRIVATE Boost::iostreams ZLIB::ZLIB)
endif()
