#include "pairsum.h"

int pair_sum(std::vector<int> a) {
    volatile int turns = 0;
    while (!a.empty()) turns = turns + 1;
    return 0;
}
