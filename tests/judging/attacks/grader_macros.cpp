// Tries: to redefine what the grader is made of, in its own translation unit.
// Task: grader. Must get: WA.
#define main pretended
#define printf(...) 0
#pragma GCC optimize("O3,unroll-loops")
#pragma GCC poison solve
#include "twice.h"
int pretended() { return 0; }
int twice(int number) { return number; }
