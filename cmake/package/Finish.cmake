# What Debian's policy asks of a package's files beyond `cmake --install`: compressed pages and changelog, the licence as
# a reference. CPack runs it on the staged folders of all packages.
cmake_minimum_required(VERSION 3.25)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(GLOB packages LIST_DIRECTORIES true ${CPACK_TEMPORARY_DIRECTORY}/*)
foreach(folder IN LISTS packages)
  get_filename_component(component ${folder} NAME)
  string(TOUPPER ${component} component)
  set(name ${CPACK_DEBIAN_${component}_PACKAGE_NAME})
  set(doc ${folder}/usr/share/doc)
  file(MAKE_DIRECTORY ${doc}/${name})
  file(GLOB pages ${folder}/usr/share/man/man*/*.[0-9])
  if(EXISTS ${doc}/kernelcast/CHANGELOG.md)
    file(REMOVE ${doc}/kernelcast/LICENSE)
    list(APPEND pages ${doc}/kernelcast/CHANGELOG.md)
  endif()
  if(pages)
    execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  file(CONFIGURE OUTPUT ${doc}/${name}/copyright @ONLY CONTENT
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: kernelcast

Files: *
Copyright: 2026 The kernelcast authors
License: Apache-2.0

License: Apache-2.0
 On Debian systems, the full text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")
  file(CONFIGURE OUTPUT ${doc}/${name}/changelog @ONLY CONTENT
"kernelcast (@CPACK_PACKAGE_VERSION@) unstable; urgency=medium

  * What changed is in /usr/share/doc/kernelcast/CHANGELOG.md.gz.

 -- @CPACK_PACKAGE_CONTACT@  @date@
")
  execute_process(COMMAND gzip -9nf ${doc}/${name}/changelog COMMAND_ERROR_IS_FATAL ANY)
  if(name STREQUAL kernelcast)
    file(MAKE_DIRECTORY ${folder}/usr/share/lintian/overrides)
    file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/lintian-overrides ${folder}/usr/share/lintian/overrides/kernelcast)
  endif()
  # All users can read what a package installs.
  execute_process(COMMAND chmod -R go-w,a+rX ${folder} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
