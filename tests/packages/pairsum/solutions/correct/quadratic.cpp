#include "pairsum.h"

int pair_sum(std::vector<int> a) {
    long long result = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        for (std::size_t j = 0; j < i; j++) result = (result + 1LL * a[i] * a[j]) % 1000003;
    return result;
}
