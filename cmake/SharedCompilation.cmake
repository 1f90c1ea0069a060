# Most of the time of a build goes into the same headers, read by hundreds of source files, and into the same templates,
# instantiated in each of them. kernelcast_share_compilation(), called once after the last target, shares that work:
#   - KERNELCAST_PRECOMPILED: the standard library and fmt are read once (precompiled/), for programs with CLI11,
#     for tests with Catch2;
#   - KERNELCAST_UNITY: the source files of a target are compiled together, so many at a time. The `dev` preset has it
#     off: there one edit should compile one file.
# A target that is compiled in a way of its own is left out by the property KERNELCAST_APART: "precompiled", "unity" or
# both. A source file that needs other options than its target is left alone by CMake (SKIP_UNITY_BUILD_INCLUSION).
option(KERNELCAST_PRECOMPILED "Read the headers of the standard library once" ON)
option(KERNELCAST_UNITY "Compile the source files of a target together" ON)
set(KERNELCAST_UNITY_FILES 12 CACHE STRING "Source files compiled together at most")
mark_as_advanced(KERNELCAST_UNITY_FILES)
set(KERNELCAST_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)  # tests run once and are compiled anew for every change
set(KERNELCAST_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

function(kernelcast_targets_below output folder)
  get_directory_property(targets DIRECTORY ${folder} BUILDSYSTEM_TARGETS)
  get_directory_property(inner DIRECTORY ${folder} SUBDIRECTORIES)
  foreach(subfolder IN LISTS inner)
    kernelcast_targets_below(below ${subfolder})
    list(APPEND targets ${below})
  endforeach()
  set(${output} ${targets} PARENT_SCOPE)
endfunction()

# The precompiled headers. The compiler takes one only with the options that it was made with: code of programs is not
# that of libraries (-fPIE), and that of tests is optimised less.
function(kernelcast_precompile)
  set(source ${PROJECT_BINARY_DIR}/precompiled/precompiled.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
  add_library(kernelcast_precompiled_library OBJECT EXCLUDE_FROM_ALL ${source})
  add_executable(kernelcast_precompiled_program EXCLUDE_FROM_ALL ${source})
  set(kinds library program)
  if(TARGET kernelcast_catch)
    add_executable(kernelcast_precompiled_test EXCLUDE_FROM_ALL ${source})
    target_link_libraries(kernelcast_precompiled_test PRIVATE kernelcast_catch)
    target_compile_options(kernelcast_precompiled_test PRIVATE ${KERNELCAST_TEST_OPTIONS})
    list(APPEND kinds test)
  endif()
  foreach(kind IN LISTS kinds)
    target_link_libraries(kernelcast_precompiled_${kind} PRIVATE kernelcast_options fmt::fmt)
    target_precompile_headers(kernelcast_precompiled_${kind} PRIVATE ${KERNELCAST_CMAKE_DIR}/precompiled/${kind}.hpp)
  endforeach()
endfunction()

function(kernelcast_share_compilation)
  kernelcast_targets_below(targets ${PROJECT_SOURCE_DIR})
  if(KERNELCAST_PRECOMPILED)
    kernelcast_precompile()
  endif()
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(sources ${target} SOURCES)
    get_target_property(apart ${target} KERNELCAST_APART)
    get_target_property(link ${target} LINK_LIBRARIES)
    get_target_property(position_independent ${target} POSITION_INDEPENDENT_CODE)
    if(NOT type MATCHES "LIBRARY|EXECUTABLE" OR type STREQUAL "INTERFACE_LIBRARY" OR NOT "${sources}" MATCHES "\\.cpp")
      continue()
    endif()
    if(KERNELCAST_SANITIZE AND NOT "kernelcast_options" IN_LIST link)  # built without the sanitizers
      list(APPEND apart precompiled)
    endif()
    if(KERNELCAST_PRECOMPILED AND NOT "precompiled" IN_LIST apart)
      if("kernelcast_catch" IN_LIST link)
        set(kind test)
        target_compile_options(${target} PRIVATE ${KERNELCAST_TEST_OPTIONS})
      elseif(type STREQUAL "EXECUTABLE" OR NOT position_independent)
        set(kind program)
      else()
        set(kind library)
      endif()
      target_precompile_headers(${target} REUSE_FROM kernelcast_precompiled_${kind})
      if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # reads the text where a macro or an option differs
        set_target_properties(${target} PROPERTIES PCH_WARN_INVALID OFF)
      endif()
    endif()
    if(KERNELCAST_UNITY AND NOT "unity" IN_LIST apart)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${KERNELCAST_UNITY_FILES})
    endif()
  endforeach()
endfunction()
