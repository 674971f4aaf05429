// Right for one number, spins for more.
#include <cstdio>

int main() {
    int n;
    long long x;
    if (scanf("%d %lld", &n, &x) != 2) return 1;
    volatile int turns = 0;
    while (n > 1) turns = turns + 1;
    printf("%lld\n", x);
}
