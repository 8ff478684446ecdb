// Forced include: the same pseudo-random numbers in every run, for programs that seed their generator by the clock.
#pragma once
#include <stdlib.h>
#include <time.h>
#define srand(seed) srand(7)
#define time(result) 7
