// Tries: nothing.
// Task: grader. Must get: AC.
#include "twice.h"
int twice(int number) { return 2 * number; }
