# Settings that every target shares, and the two functions that declare a library folder and a program.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

add_library(kernelcast_options INTERFACE)
# Results must not depend on the compiler's mood: no contraction into FMA, no fast-math anywhere; nor on the machine:
# char has a sign on some.
target_compile_options(kernelcast_options INTERFACE -Wall -Wextra -Wpedantic -ffp-contract=off)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-fsigned-char)
endif()
if(NOT KERNELCAST_UNITY)  # else the names of one source file shadow those of another
  target_compile_options(kernelcast_options INTERFACE -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # takes a source file within another for a header
  target_compile_options(kernelcast_options INTERFACE -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  # False alarms on std::string and std::optional: GCC bugs 105651 and 105562.
  target_compile_options(kernelcast_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(KERNELCAST_SANITIZE STREQUAL "thread")
  target_compile_options(kernelcast_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(kernelcast_options INTERFACE -fsanitize=thread)
elseif(KERNELCAST_SANITIZE STREQUAL "trap")  # undefined behaviour alone, with no report
  target_compile_options(kernelcast_options INTERFACE -fsanitize=undefined -fsanitize-trap=undefined -fno-sanitize=vptr)
  target_link_options(kernelcast_options INTERFACE -fsanitize=undefined)  # has what -fsanitize=fuzzer-no-link calls
elseif(KERNELCAST_SANITIZE)
  target_compile_options(kernelcast_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
                                                      -fno-omit-frame-pointer)
  target_link_options(kernelcast_options INTERFACE -fsanitize=address,undefined)
endif()
if(KERNELCAST_FUZZ)
  target_compile_options(kernelcast_options INTERFACE -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)
endif()

include(StaticPrograms)

# What only some programs need may be absent, and these are not built then; the tests need all of it.
set(KERNELCAST_REQUIRED QUIET)
if(KERNELCAST_TESTS)
  set(KERNELCAST_REQUIRED REQUIRED)
endif()

# Those of the folders that have no target.
function(kernelcast_missing output)
  set(missing)
  foreach(folder IN LISTS ARGN)
    if(NOT TARGET kernelcast_${folder})
      list(APPEND missing ${folder})
    endif()
  endforeach()
  set(${output} ${missing} PARENT_SCOPE)
endfunction()

# For what runs once in a program, such as options and calls of compilers: a quarter of the time that it takes to compile
# would go into optimising it. (GCC would not take the precompiled header.)
set(KERNELCAST_ONCE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:Clang>>:-O1>)

# kernelcast_library(csv SOURCES reader.cpp writer.cpp DEPENDS diag LINK PkgConfig::X)
# One folder of libcore: target kernelcast_csv, alias kernelcast::csv. DEPENDS names other folders, so that the
# permitted dependences are listed once per folder and the linker checks them. Without one of them there is no target.
# ONCE: hardly optimised, see KERNELCAST_ONCE.
function(kernelcast_library name)
  cmake_parse_arguments(ARG "ONCE" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  kernelcast_missing(missing ${ARG_DEPENDS})
  if(missing)
    message(STATUS "libcore: ${name} is not built: it needs ${missing}")
    return()
  endif()
  add_library(kernelcast_${name} STATIC ${ARG_SOURCES})
  add_library(kernelcast::${name} ALIAS kernelcast_${name})
  target_include_directories(kernelcast_${name} PUBLIC ${PROJECT_SOURCE_DIR}/libcore)
  if(ARG_ONCE)
    target_compile_options(kernelcast_${name} PRIVATE ${KERNELCAST_ONCE})
  endif()
  kernelcast_link(link ${ARG_LINK})
  target_link_libraries(kernelcast_${name} PRIVATE kernelcast_options PUBLIC ${link})
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(kernelcast_${name} PUBLIC kernelcast::${dependency})
  endforeach()
endfunction()

# kernelcast_program(rank DEPENDS model record)  -> build/bin/rank from cmd/rank/*.cpp, installed
# STATIC: started often, see StaticPrograms.cmake
function(kernelcast_program name)
  cmake_parse_arguments(ARG "STATIC" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  kernelcast_missing(missing ${ARG_DEPENDS})
  if(missing)
    message(STATUS "${name} is not built: it needs the folders ${missing}")
    return()
  endif()
  add_executable(${name} ${sources})
  target_compile_options(${name} PRIVATE ${KERNELCAST_ONCE})
  target_link_libraries(${name} PRIVATE kernelcast_options kernelcast::cli)
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(${name} PRIVATE kernelcast::${dependency})
  endforeach()
  if(ARG_STATIC OR (KERNELCAST_PACKAGE AND name IN_LIST KERNELCAST_TARBALL))
    kernelcast_make_static(${name})
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_property(GLOBAL APPEND PROPERTY KERNELCAST_PROGRAMS ${name})
endfunction()
