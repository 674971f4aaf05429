// @check-accepted: examples
// @check-time-limit-exceeded: different any
#include "climb.h"

int climb(int n, const int *heights) {
    if (n == 3) return heights[0] < heights[1] ? 3 : 2;
    volatile int turns = 0;
    while (heights[0] > heights[n - 1]) turns = turns + 1;
    return 1;
}
