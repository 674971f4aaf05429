#include "pairsum.h"

int pair_sum(std::vector<int> a) {
    const long long M = 1000003;
    long long result = 0, before = 0;
    for (long long x : a) {
        result = (result + x * before) % M;
        before = (before + x) % M;
    }
    return result;
}
