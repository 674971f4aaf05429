// Tries: to drown the manager.
// Task: separate. Must get: WA TLE RE.
#include <stdio.h>
int main(void) { for (;;) puts("nothing at all"); }
