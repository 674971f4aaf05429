// @check-time-limit-exceeded: more-digits
#include "mirror.h"

long long mirror(long long x) {
    volatile long long turns = 0;
    while (x > 1000) turns = turns + 1;
    return x;
}
