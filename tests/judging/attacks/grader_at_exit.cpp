// Tries: to correct the grader's last word after it has returned.
// Task: grader. Must get: WA.
#include <cstdio>
#include <cstdlib>
static void last() { puts("done 42"); }
int twice(int number) { atexit(last); return number + 1; }
