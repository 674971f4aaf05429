#include <vector>

// The sum of a[i] * a[j] over all pairs i < j, modulo 1000003.
int pair_sum(std::vector<int> a);
