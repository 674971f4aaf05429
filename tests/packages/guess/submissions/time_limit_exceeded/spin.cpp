#include <cstdio>

int main() {
    puts("333");
    fflush(stdout);
    volatile unsigned long turns = 0;
    for (;;) turns = turns + 1;
}
