// What most tests include, parsed once for all of them.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "cmake/precompiled.hpp"
