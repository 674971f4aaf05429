// Sums of at most three: group 2 only.
// @EXPECTED_SCORE@: 20
#include <algorithm>
#include <cstdio>

int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    long long best = -1000000000000LL, x[100];
    for (int i = 0; i < n; i++) {
        if (scanf("%lld", &x[i]) != 1) return 1;
        long long sum = 0;
        for (int j = i; j >= 0 && j > i - 3; j--) best = std::max(best, sum += x[j]);
    }
    printf("%lld\n", best);
}
