// Precompiled for tests.
#pragma once

#include "library.hpp"

#include "catch.hpp"
