// Tries: nothing: it halves until it has found the number.
// Task: guess. Must get: AC.
#include <cstdio>
int main() {
    int low = 1, high = 1000, less;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        printf("%d\n", middle);
        fflush(stdout);
        if (scanf("%d", &less) != 1) return 0;
        if (less) high = middle - 1; else low = middle;
    }
    printf("! %d\n", low);
}
