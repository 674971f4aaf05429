// Right for small numbers: the first subtask.
#include "pairsum.h"

int pair_sum(std::vector<int> a) {
    unsigned result = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        for (std::size_t j = 0; j < i; j++) result += unsigned(a[i]) * unsigned(a[j]);
    return result % 1000003;
}
