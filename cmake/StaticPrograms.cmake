# Programs that are started often are linked statically: finding and binding shared libraries takes longer than
# emulating many a kernel. Where the host lacks an archive, and under the sanitizers, they are linked as all others are.
#
# A library folder says `LINK fmt::fmt`; kernelcast_link() makes of it what each program that links the folder needs: the
# archive if its property KERNELCAST_STATIC is set, else the shared library.

find_library(KERNELCAST_CSV_ARCHIVE NAMES libcsv.a)
find_library(KERNELCAST_XXHASH_ARCHIVE NAMES libxxhash.a)
find_library(KERNELCAST_ZLIB_ARCHIVE NAMES libz.a)
find_library(KERNELCAST_ZSTD_ARCHIVE NAMES libzstd.a)
mark_as_advanced(KERNELCAST_CSV_ARCHIVE KERNELCAST_XXHASH_ARCHIVE KERNELCAST_ZLIB_ARCHIVE KERNELCAST_ZSTD_ARCHIVE)
set(here ${CMAKE_CURRENT_LIST_DIR}/static)
string(REGEX MATCH "^[0-9]+" fmt_major ${fmt_VERSION})
if(KERNELCAST_CSV_ARCHIVE AND KERNELCAST_XXHASH_ARCHIVE AND NOT KERNELCAST_SANITIZE AND NOT KERNELCAST_FUZZ)
  if(NOT DEFINED KERNELCAST_STATIC_PROGRAMS)
    try_compile(works ${PROJECT_BINARY_DIR}/static_probe SOURCES ${here}/probe.cpp ${here}/fmt.cpp
                COMPILE_DEFINITIONS -DFMT_STATIC_NAMESPACE=v${fmt_major} -fPIC LINK_OPTIONS -static-pie
                LINK_LIBRARIES ${KERNELCAST_CSV_ARCHIVE} ${KERNELCAST_XXHASH_ARCHIVE}
                CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
    option(KERNELCAST_STATIC_PROGRAMS "Link programs statically that are started often" ${works})
  endif()
endif()
option(KERNELCAST_PACKAGE "Build for packages: fmt, whose library has another name in each release of Debian, is part of \
every program, and those of the tarball are static" OFF)
if(KERNELCAST_STATIC_PROGRAMS)
  add_library(kernelcast_fmt STATIC EXCLUDE_FROM_ALL ${here}/fmt.cpp $<$<BOOL:${KERNELCAST_PACKAGE}>:${here}/wait.cpp>)
  target_compile_definitions(kernelcast_fmt PRIVATE FMT_STATIC_NAMESPACE=v${fmt_major})
endif()

# items, with the archive in place of the shared library where the linking program asks for it
function(kernelcast_link output)
  set(archive_fmt::fmt kernelcast_fmt)
  set(archive_Libcsv::Libcsv ${KERNELCAST_CSV_ARCHIVE})
  set(archive_PkgConfig::XXHASH ${KERNELCAST_XXHASH_ARCHIVE})
  set(archive_PkgConfig::ZLIB ${KERNELCAST_ZLIB_ARCHIVE})
  set(archive_PkgConfig::ZSTD ${KERNELCAST_ZSTD_ARCHIVE})
  set(items)
  foreach(item IN LISTS ARGN)
    if(KERNELCAST_PACKAGE AND item STREQUAL fmt::fmt)
      set(item kernelcast_fmt)
    elseif(KERNELCAST_STATIC_PROGRAMS AND DEFINED archive_${item})
      set(item $<IF:$<BOOL:$<TARGET_PROPERTY:KERNELCAST_STATIC>>,${archive_${item}},${item}>)
    endif()
    list(APPEND items ${item})
  endforeach()
  set(${output} ${items} PARENT_SCOPE)
endfunction()

function(kernelcast_make_static program)
  if(KERNELCAST_STATIC_PROGRAMS)
    set_target_properties(${program} PROPERTIES KERNELCAST_STATIC ON)
    target_link_options(${program} PRIVATE -static-pie)
  endif()
endfunction()
