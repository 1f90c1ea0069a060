# make dist: the static programs of BUILD (build-package, build-package-arm64) with the database and a kernel, for a Linux
# without anything else.
set(source ${CMAKE_CURRENT_LIST_DIR}/../..)
set(build ${source}/${BUILD})
load_cache(${build} READ_WITH_PREFIX built_ CMAKE_STRIP CMAKE_READELF KERNELCAST_PROCESSOR)
file(STRINGS ${source}/CMakeLists.txt line REGEX "^project\\(kernelcast VERSION")
string(REGEX MATCH "[0-9.]+" version "${line}")
set(name kernelcast-${version}-linux-${built_KERNELCAST_PROCESSOR})
set(folder ${build}/dist/${name})
file(REMOVE_RECURSE ${build}/dist)
file(MAKE_DIRECTORY ${folder}/bin ${folder}/share/kernelcast)
foreach(program kernelcast miniemu perfcast rank)
  execute_process(COMMAND ${built_CMAKE_STRIP} -o ${folder}/bin/${program} ${build}/bin/${program}
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${built_CMAKE_READELF} -d ${folder}/bin/${program} OUTPUT_VARIABLE dynamic
                  COMMAND_ERROR_IS_FATAL ANY)
  if(dynamic MATCHES "NEEDED")
    message(FATAL_ERROR "${program} is not static: this machine lacks the archives of fmt, csv, xxhash, zlib or zstd")
  endif()
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${folder} --component database
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/sample/ DESTINATION ${folder}/sample)
file(COPY ${source}/LICENSE ${source}/README.md DESTINATION ${folder})
set(ENV{TZ} UTC)
execute_process(COMMAND tar -C ${build}/dist --sort=name --owner=0 --group=0 --numeric-owner --mtime=2000-01-01
                        -czf ${build}/${name}.tar.gz ${name} COMMAND_ERROR_IS_FATAL ANY)
# What was packed is what is tried, from another place and without an environment.
set(trial ${build}/dist/trial)
file(MAKE_DIRECTORY ${trial})
execute_process(COMMAND tar -C ${trial} -xzf ${build}/${name}.tar.gz COMMAND_ERROR_IS_FATAL ANY)
set(run env -i HOME=${trial} ${trial}/${name}/bin)
execute_process(
  COMMAND ${run}/miniemu ${trial}/${name}/sample/saxpy.toml
  COMMAND ${run}/perfcast
  COMMAND ${run}/rank
  OUTPUT_VARIABLE ranking COMMAND_ERROR_IS_FATAL ANY)
if(NOT ranking MATCHES "saxpy,saxpy,1,")
  message(FATAL_ERROR "the packed programs give no ranking: ${ranking}")
endif()
file(SIZE ${build}/${name}.tar.gz size)
math(EXPR size "${size} / 1000000")
message("${build}/${name}.tar.gz, ${size} MB: tar xf it, then
  cd ${name} && bin/miniemu sample/saxpy.toml | bin/perfcast | bin/rank --format table")
