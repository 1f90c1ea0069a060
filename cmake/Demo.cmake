# make demo: one real OpenCL kernel through the whole chain. Runs from the source directory after the build.
set(bin ${CMAKE_CURRENT_LIST_DIR}/../build/bin)
set(launch bench-suites/panwar/matmul_lmem.toml)

message("$ miniemu ${launch} --groups first | perfcast | rank --format table\n")
execute_process(
  COMMAND ${bin}/miniemu ${launch} --groups first
  COMMAND ${bin}/perfcast
  COMMAND ${bin}/rank --format table
  WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/..
  RESULTS_VARIABLE statuses)
foreach(status IN LISTS statuses)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "a stage of the pipe exited with status ${status}")
  endif()
endforeach()
