// Has room for three numbers and says so.
#include <algorithm>
#include <cstdio>
#include <vector>

int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    std::vector<long long> x(3);
    long long best = -1000000000000LL, here = best;
    for (int i = 0; i < n; i++) {
        if (scanf("%lld", &x.at(i)) != 1) return 1;
        here = std::max(here + x[i], x[i]);
        best = std::max(best, here);
    }
    printf("%lld\n", best);
}
