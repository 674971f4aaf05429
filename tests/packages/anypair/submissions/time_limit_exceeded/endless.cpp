// Looks for a pair until it finds one: 2-none has none.
#include <cstdio>
#include <cstdlib>

int main() {
    int n, s, x[100];
    if (scanf("%d %d", &n, &s) != 2) return 1;
    for (int i = 0; i < n; i++)
        if (scanf("%d", &x[i]) != 1) return 1;
    for (;;) {
        int i = rand() % n, j = rand() % n;
        if (i != j && x[i] + x[j] == s) {
            printf("%d %d\n", i + 1, j + 1);
            return 0;
        }
    }
}
