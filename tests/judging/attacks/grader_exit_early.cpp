// Tries: to print the grader's format before the grader starts, and to end.
// Task: grader. Must get: WA.
#include <cstdio>
#include <unistd.h>
int twice(int number) { return number; }
__attribute__((constructor)) static void first() {
    fputs("done 1\n", stdout);
    fflush(stdout);
    _exit(0);
}
