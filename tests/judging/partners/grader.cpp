#include <cstdio>
#include "twice.h"
int main() {
    int number = 0, read = scanf("%d", &number);
    int twice_it = twice(number);
    printf("done %d\n", read == 1 ? twice_it : -1);
}
