#include "pairsum.h"

#include <cstdio>

int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    std::vector<int> a(n);
    for (int &x : a)
        if (scanf("%d", &x) != 1) return 1;
    printf("result\n%d\n", pair_sum(a));
    return 0;
}
