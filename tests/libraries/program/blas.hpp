// cuBLAS as programs see it, without its headers.
#pragma once

#include "support.hpp"

using Handle = void*;
constexpr int kNotInitialized = 1, kInvalid = 7, kNotSupported = 15;
