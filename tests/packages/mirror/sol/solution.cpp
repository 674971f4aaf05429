#include "mirror.h"

long long mirror(long long x) {
    long long found = 0;
    for (; x > 0; x /= 10) found = found * 10 + x % 10;
    return found;
}
