# make demo    packages, build, and one OpenCL kernel cast onto every GPU of the database
# make check   packages, build, all tests
# make fuzz [SECONDS=60]                    both libFuzzer targets, each for so long
# make fuzz-diff [SECONDS=60|COUNT=N] [SEED=N]   random kernels on the emulator against an OpenCL device
# make release the archive of a version, with its checksum
# make bench   benchmarks · make install [PREFIX=/usr/local] · make man · make format · make deps · make help
#
# All it does is call apt and CMake; CMakePresets.json has the build directories.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

# What a plain Debian 12 or 13 needs. oclgrind and pocl-opencl-icd are only for comparisons: without them the tests
# that use them are skipped.
PACKAGES = cmake ninja-build g++ pkg-config clang-19 llvm-19-dev libclang-rt-19-dev libclc-19 libclc-19-dev \
  libcli11-dev libcsv-dev libeigen3-dev libfmt-dev libhwloc-dev liblz4-dev libtomlplusplus-dev libxxhash-dev \
  libzstd-dev nlohmann-json3-dev catch2 libbenchmark-dev ocl-icd-opencl-dev opencl-headers pocl-opencl-icd oclgrind \
  gnuplot-nox scdoc mandoc locales abigail-tools

.PHONY: all help build deps demo check fuzz fuzz-diff bench install release format man clean
all: build

help:
	@sed -n "s/^# \(make .*\)/\1/p" $(firstword $(MAKEFILE_LIST))

deps:
	@missing=; for p in $(PACKAGES); do \
	  [ "$$(dpkg-query -W -f='$${db:Status-Status}' $$p 2>/dev/null)" = installed ] || missing="$$missing $$p"; done; \
	[ -z "$$missing" ] && exit 0; \
	echo "installing:$$missing"; \
	command -v apt-get >/dev/null || { echo "no apt-get here: install these by hand:$$missing" >&2; exit 1; }; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	$$sudo apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing >/dev/null

build: deps
	@cmake --preset release $(CMAKE_OPTIONS) >/dev/null
	@cmake --build --preset release -j $(JOBS)

# Only the three programs: the tests take most of a whole build.
demo: deps
	@cmake --preset release $(CMAKE_OPTIONS) >/dev/null
	@echo "building miniemu, perfcast and rank" >&2
	@cmake --build --preset release -j $(JOBS) --target miniemu perfcast rank -- --quiet
	@cmake -P cmake/Demo.cmake

check: build
	@ctest --preset release -j $(JOBS)

# What is found is kept in build-fuzz/corpus; an input that fails is written to build-fuzz.
SECONDS = 60
fuzz: deps
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS) --target parse_fuzz emulate_fuzz
	@for t in parse emulate; do mkdir -p build-fuzz/corpus/$$t; \
	  build-fuzz/bin/$${t}_fuzz -max_total_time=$(SECONDS) -max_len=4096 -timeout=20 -rss_limit_mb=512 \
	    -dict=tests/fuzz/ptx.dict -artifact_prefix=build-fuzz/$$t- -print_final_stats=1 \
	    build-fuzz/corpus/$$t tests/fuzz/corpus || exit 1; done

# Seeds follow on from SEED, by default from the time. A kernel that differs is written to build/, with its seed.
SEED = $(shell date +%s)000
fuzz-diff: build
	@build/bin/differential --seed $(SEED) --keep build $(if $(COUNT),--count $(COUNT),--seconds $(SECONDS))

bench: deps
	@cmake --preset bench >/dev/null
	@cmake --build --preset bench -j $(JOBS) --target bench

install: build
	@cmake --install build --prefix $(PREFIX)

# Needs git and nothing else; tags and sends nothing.
release:
	@sh .ci/release

man: build
	@cmake --build --preset release --target man

format:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-19 -i

clean:
	@cmake -E rm -rf build build-dev build-gcc build-asan build-fuzz
