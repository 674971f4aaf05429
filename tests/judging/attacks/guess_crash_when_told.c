// Tries: nothing; it is told that it lost, hears no more, and crashes of that.
// Task: guess. Must get: WA.
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    int less;
    puts("! 3");
    fflush(stdout);
    if (scanf("%d", &less) != 1) abort();
    return 0;
}
