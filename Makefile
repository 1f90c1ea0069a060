# make demo    packages, build, and one OpenCL kernel cast onto every GPU of the database
# make check   packages, build, all tests
# make test OF=models/forest   the tests of one folder of libcore, in the preset dev: compiles what changed
# make lint    checks of the tree that need no build · make lint-deep   clang's static analyzer, too (an hour)
# make fuzz [SECONDS=60] [TARGET="parse …"] the libFuzzer targets, each for so long; runs add up
# make fuzz-diff [SECONDS=60|COUNT=N] [SEED=N]   random kernels on the emulator against an OpenCL device
# make torture [SECONDS=60|COUNT=N] [SEED=N]     programs killed at random moments and run again
# make night HOURS=8 [PARTS=fuzz,kernels,…]     the long checks in shares of the time; tests/night/totals.csv adds up
# make deps-arm64      what the packages for 64-bit ARM need (make deb, dist or wheel with ARM64=1)
# make deps-hip        what AMD's machine code of HIP programs needs: AMD's headers and device libraries
# make deps-offload    what the tests of OpenMP and OpenACC on GPUs need: GCC with code for nvptx, gfortran
# make site    the documentation as static HTML, in build/site: manuals, tutorials, papers, validation with its figures
# make deps-site       what that takes: pandoc, mandoc, scdoc, gnuplot
# make deps-clusters   what the tests of sweeps on clusters need: GNU parallel, Snakemake, Slurm
# make inject  has each call of the programs for memory, files and threads fail in turn (an hour)
# make deb     Debian packages, of the programs, the library, and what is developed with it, in build-package/
# make dist    a tarball of static programs that runs on any Linux, in build-package/
# make wheel   the Python package with the library and the device database, in build-package/
# make release the archive of a version, with its checksum
# make curves GPUBENCHES=FILE  the curves of devdb that come from RRZE-HPC/gpu-benches, see devdb/import
# make bench   benchmarks · make install, make uninstall [PREFIX=/usr/local] · make man · make format · make deps · make help
#
# All it does is call apt and CMake; CMakePresets.json has the build directories.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

# What a plain Debian 12 or 13 needs: for the programs of the demo, for everything with its tests (oclgrind and
# pocl-opencl-icd are only for comparisons, chromium opens the pages of figure report: without them the tests that use
# them are skipped), and besides for each target.
DEMO_PACKAGES = cmake ninja-build pkg-config clang-19 libclc-19 libclc-19-dev libcli11-dev libcsv-dev libfmt-dev \
  libtomlplusplus-dev libxxhash-dev libzstd-dev nlohmann-json3-dev zlib1g-dev
PACKAGES = $(DEMO_PACKAGES) g++ llvm-19-dev libclang-rt-19-dev libeigen3-dev libhwloc-dev liblz4-dev catch2 \
  ocl-icd-opencl-dev opencl-headers pocl-opencl-icd oclgrind gnuplot-nox chromium scdoc mandoc locales abigail-tools zstd \
  python3-venv llvm-spirv-15 spirv-tools
BENCH_PACKAGES = libbenchmark-dev
PACKAGE_PACKAGES = dpkg-dev file fakeroot
# The tools of bench-suites/clusters. Their daemons are of no use here: tests start their own.
CLUSTER_PACKAGES = munge parallel slurm-client slurmctld slurmd snakemake
# GCC's code for NVIDIA's GPUs, with the plug-in that libgomp loads.
OFFLOAD_PACKAGES = gcc g++ gfortran gcc-offload-nvptx
# AMD's headers and device libraries of HIP, of which clang makes AMD's machine code. Their nvcc is no package of Debian's.
HIP_PACKAGES = libamdhip64-dev rocm-device-libs
# Beside those of the building machine: its compiler and headers make the programs of 64-bit ARM.
GCC = $(shell gcc -dumpversion 2>/dev/null)
ARM64_PACKAGES = binutils-aarch64-linux-gnu libc6-dev:arm64 libcsv-dev:arm64 libfmt-dev:arm64 libgcc-$(GCC)-dev:arm64 \
  libhwloc-dev:arm64 liblz4-dev:arm64 libstdc++-$(GCC)-dev:arm64 libtomlplusplus-dev:arm64 libxxhash-dev:arm64 \
  libzstd-dev:arm64 ocl-icd-opencl-dev:arm64 qemu-user qemu-user-binfmt zlib1g-dev:arm64
SITE_PACKAGES = gnuplot-nox mandoc pandoc python3 scdoc
LINT_PACKAGES = clang-format-19 clang-tidy-19 libclang-19-dev codespell git

.PHONY: all help build deps deps-arm64 deps-demo deps-bench deps-clusters deps-hip deps-lint deps-offload deps-package deps-site site package deb dist wheel uninstall demo check test lint lint-deep structure fuzz fuzz-diff inject torture night curves bench install release \
        format man clean
all: build

help:
	@sed -n "s/^# \(make .*\)/\1/p" $(firstword $(MAKEFILE_LIST))

deps: packages = $(PACKAGES)
deps-demo: packages = $(DEMO_PACKAGES)
deps-package: packages = $(PACKAGES) $(PACKAGE_PACKAGES)
deps-arm64: packages = $(PACKAGES) $(PACKAGE_PACKAGES) $(ARM64_PACKAGES)
deps-bench: packages = $(PACKAGES) $(BENCH_PACKAGES)
deps-clusters: packages = $(PACKAGES) $(CLUSTER_PACKAGES)
deps-offload: packages = $(PACKAGES) $(OFFLOAD_PACKAGES)
deps-hip: packages = $(PACKAGES) $(HIP_PACKAGES)
deps-site: packages = $(PACKAGES) $(SITE_PACKAGES)
deps-lint: packages = $(PACKAGES) $(LINT_PACKAGES)
deps deps-arm64 deps-demo deps-bench deps-clusters deps-hip deps-lint deps-offload deps-package deps-site:
	@missing=; for p in $(packages); do \
	  case $$(dpkg-query -W -f='$${db:Status-Status} ' $$p 2>/dev/null) in installed*) ;; *) missing="$$missing $$p" ;; esac; done; \
	[ -z "$$missing" ] && exit 0; \
	echo "installing:$$missing"; \
	command -v apt-get >/dev/null || { echo "no apt-get here: install these by hand:$$missing" >&2; exit 1; }; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	case $$missing in *:arm64*) $$sudo dpkg --add-architecture arm64 ;; esac; \
	$$sudo apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing >/dev/null

# What the demo sets is unset.
build: deps
	@cmake --preset release -UKERNELCAST_TESTS -UKERNELCAST_EMU_LEVELS $(CMAKE_OPTIONS) >/dev/null
	@cmake --build --preset release -j $(JOBS)

# Only the three programs, without tests, and of the emulator's handlers only those that this machine takes.
DEMO_LEVEL = $(if $(shell grep -sm1 avx512bw /proc/cpuinfo),v4,$(if $(shell grep -sm1 avx2 /proc/cpuinfo),v3,))
demo: deps-demo
	@cmake --preset release -DKERNELCAST_TESTS=OFF $(if $(DEMO_LEVEL),-DKERNELCAST_EMU_LEVELS=$(DEMO_LEVEL)) \
	  $(CMAKE_OPTIONS) >/dev/null
	@echo "building miniemu, perfcast and rank" >&2
	@cmake --build --preset release -j $(JOBS) --target miniemu perfcast rank -- --quiet
	@cmake -P cmake/Demo.cmake

check: build
	@ctest --preset release -j $(JOBS)

OF = base/diag
test:
	@[ -f build-dev/build.ninja ] || cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS) --target test_$(subst /,_,$(OF)) -- --quiet
	@ctest --preset dev -R '^unit/$(OF):' -j $(JOBS)

lint: deps-lint
	@LINT_JOBS=$(JOBS) tests/lint/lint.sh

# Folders, arrows, lines: the same figures before and after a change of structure.
structure:
	@python3 tests/lint/structure.py .

lint-deep: deps-lint
	@LINT_JOBS=$(JOBS) tests/lint/lint.sh tidy --deep

# Runs add up: tests/fuzz/run.sh says where what is found, what failed and the totals are kept.
SECONDS = 60
fuzz: deps
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS) --target $(if $(TARGET),$(TARGET:%=%_fuzz),fuzz-targets)
	@tests/fuzz/run.sh build-fuzz $(SECONDS) $(TARGET)

# Seeds follow on from SEED, by default from the time. A kernel that differs is written to build/, with its seed.
SEED = $(shell date +%s)000
fuzz-diff: build
	@build/bin/differential --seed $(SEED) --keep build $(if $(COUNT),--count $(COUNT),--seconds $(SECONDS))

# The same seed draws the same moments.
torture: build
	@BIN=$(CURDIR)/build/bin SOURCE=$(CURDIR) TABLES=$(CURDIR)/tests/conduct/tools build/bin/torture --seed $(SEED) \
	  $(if $(COUNT),--count $(COUNT),--seconds $(SECONDS))

inject: build
	@cmake --build --preset release --target inject-all

# The long checks in shares of so many hours; tests/night/totals.csv adds them up over nights.
HOURS = 8
night:
	@python3 tests/night/night.py $(HOURS) $(if $(PARTS),--parts $(PARTS))

curves:
	@test -n "$(GPUBENCHES)" || { echo "name the table: make curves GPUBENCHES=gpubenches.csv" >&2; exit 2; }
	@python3 devdb/import/gpubenches.py devdb/curves devdb/devices.csv $(GPUBENCHES)

bench: deps-bench
	@cmake --preset bench >/dev/null
	@cmake --build --preset bench -j $(JOBS) --target bench

install: build
	@cmake --install build --prefix $(PREFIX)

# What the last make install put there, and folders that it leaves empty.
uninstall:
	@cmake -P cmake/package/Uninstall.cmake

# ARM64=1: for 64-bit ARM, on another machine.
PACKAGE = package$(if $(ARM64),-arm64)
package: $(if $(ARM64),deps-arm64,deps-package)
	@cmake --preset $(PACKAGE) $(CMAKE_OPTIONS) >/dev/null
	@cmake --build --preset $(PACKAGE) -j $(JOBS)
deb: package
	@cd build-$(PACKAGE) && $(if $(ARM64),DEB_HOST_ARCH=arm64) cpack -G DEB >/dev/null && ls -l *.deb
dist: package
	@cmake -DBUILD=build-$(PACKAGE) -P cmake/package/Tarball.cmake

# Needs PyPI. PYTHON names the interpreter.
wheel: package
	@rm -rf build-$(PACKAGE)/python && cmake --install build-$(PACKAGE) --prefix build-$(PACKAGE)/python >/dev/null
	@sh libcore/api/python/wheel.sh build-$(PACKAGE)/python build-$(PACKAGE) $(PYTHON)

# Needs git and nothing else; tags and sends nothing.
release:
	@sh .ci/release

man: build
	@cmake --build --preset release --target man

site: deps-site build
	@$(MAKE) --no-print-directory -s -C bench-suites/validation figures >/dev/null
	@cmake --build --preset release --target site

format:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-19 -i

clean:
	@cmake -E rm -rf build build-dev build-gcc build-asan build-tsan build-fuzz build-fuzz-fast build-lint build-package
