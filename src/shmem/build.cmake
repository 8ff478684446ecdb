target_include_directories(lockstep_shmem PUBLIC ${PROJECT_SOURCE_DIR}/include)
