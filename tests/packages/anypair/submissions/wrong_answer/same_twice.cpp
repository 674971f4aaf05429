// Takes one number twice: only 3-half shows it.
#include <cstdio>

int main() {
    int n, s, x[100];
    if (scanf("%d %d", &n, &s) != 2) return 1;
    for (int i = 0; i < n; i++)
        if (scanf("%d", &x[i]) != 1) return 1;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            if (x[i] + x[j] == s) {
                printf("%d %d\n", i + 1, j + 1);
                return 0;
            }
    puts("-1");
}
