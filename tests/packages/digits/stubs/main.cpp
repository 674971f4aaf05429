#include "digits.h"

#include <cstdio>

int main() {
#ifndef EVAL
    return 1;
#endif
    int count;
    if (scanf("%d", &count) != 1) return 1;
    while (count--) {
        long long n;
        if (scanf("%lld", &n) != 1) return 1;
        printf("%d\n", digit_sum(n));
    }
}
