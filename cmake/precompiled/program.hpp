// Precompiled for programs: every main.cpp declares options.
#pragma once

#include <CLI/CLI.hpp>

#include "library.hpp"
