# Packages of Debian: the programs with the database, the library, and what is developed with it. `make deb` builds them
# from the preset `package`, so that what they need has the same name in Debian 12 and 13.
set(CPACK_PACKAGE_NAME kernelcast)
set(CPACK_PACKAGE_VENDOR kernelcast)
# As Debian's own tools find it.
if(DEFINED ENV{DEBEMAIL})
  set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  set(maintainer "The kernelcast authors <root@localhost>")
endif()
set(CPACK_PACKAGE_CONTACT ${maintainer})
# Of all packages; what they hold is said below it.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "projections of how long kernels take on GPUs and CPUs")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL programs database library development)
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS library)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package/Finish.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package/WithoutScripts.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
set(KERNELCAST_PROCESSOR ${CMAKE_SYSTEM_PROCESSOR} CACHE INTERNAL "of which the packages are")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
# The emulator's CUDA libraries need each other and lie where no linker looks.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/kernelcast-cudart)

set(CPACK_DEBIAN_SUITE_PACKAGE_NAME kernelcast)
set(CPACK_DEBIAN_SUITE_PACKAGE_RECOMMENDS "clang-19, libclc-19, libclc-19-dev, gnuplot-nox")
set(CPACK_DEBIAN_SUITE_PACKAGE_SUGGESTS "llvm-spirv-15")
set(CPACK_DEBIAN_SUITE_DESCRIPTION "Programs that exchange CSV over pipes: one emulates work-groups of a GPU
kernel on the CPU, others project what was counted onto devices by
published models, one ranks. Only measuring needs a GPU.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libkernelcast0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "kernelcast (= ${PROJECT_VERSION})")
# Not CPack's own list, which would offer the emulator's CUDA libraries to other packages.
file(CONFIGURE OUTPUT package/shlibs CONTENT "libkernelcast 0 libkernelcast0 (>= @PROJECT_VERSION@)\n" @ONLY)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_LIST_DIR}/package/triggers;${PROJECT_BINARY_DIR}/package/shlibs")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "This package has the emulator and the default model behind a C interface,
for runtimes that choose a device themselves.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkernelcast-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "This package has the header, the examples and the pkg-config file of the
library.")

# What is in them, beside what they depend on.
if(KERNELCAST_PACKAGE)
  execute_process(COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/package/sbom.py ${PROJECT_VERSION}
                          ${CPACK_DEBIAN_PACKAGE_ARCHITECTURE}
                  OUTPUT_FILE ${PROJECT_BINARY_DIR}/kernelcast.spdx.json COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${PROJECT_BINARY_DIR}/kernelcast.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

include(CPack)
cpack_add_component_group(suite)
cpack_add_component(programs GROUP suite)
cpack_add_component(database GROUP suite)
cpack_add_component(library)
cpack_add_component(development DEPENDS library)
