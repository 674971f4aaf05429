// Tries: to read the grader's input before it does.
// Task: grader. Must get: WA.
#include <cstdio>
#include <unistd.h>
int twice(int number) { return 2 * number; }
__attribute__((constructor)) static void first() {
    char all[4096];
    while (read(0, all, sizeof all) > 0) {}
}
