#include <cstdio>
#include <map>

int main() {
    int n, s;
    if (scanf("%d %d", &n, &s) != 2) return 1;
    std::map<int, int> seen;
    for (int i = 1; i <= n; i++) {
        int x;
        if (scanf("%d", &x) != 1) return 1;
        if (seen.count(s - x)) {
            printf("%d %d\n", seen[s - x], i);
            return 0;
        }
        seen[x] = i;
    }
    puts("-1");
}
