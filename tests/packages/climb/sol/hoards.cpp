// @check-memory-limit-exceeded: any
#include "climb.h"

#include <cstring>

int climb(int n, const int *) {
    for (int i = 0; n > 5 && i < 128; i++) memset(new char[1 << 20], i + 1, 1 << 20);
    return 0;
}
