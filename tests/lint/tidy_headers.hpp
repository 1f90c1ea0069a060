// Headers of the system that most files include, precompiled for clang-tidy.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
