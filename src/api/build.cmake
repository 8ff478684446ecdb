target_include_directories(lockstep_api PUBLIC ${PROJECT_SOURCE_DIR}/include)
