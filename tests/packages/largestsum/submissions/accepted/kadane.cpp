#include <algorithm>
#include <cstdio>

int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    long long best = -1000000000000LL, here = -1000000000000LL;
    for (int i = 0; i < n; i++) {
        long long x;
        if (scanf("%lld", &x) != 1) return 1;
        here = std::max(here + x, x);
        best = std::max(best, here);
    }
    printf("%lld\n", best);
}
