#include "pairsum.h"

int pair_sum(std::vector<int> a) { return a.at(a.size()); }
