// Tries: to end while it is being spoken to.
// Task: guess. Must get: WA.
#include <stdio.h>
int main(void) { puts("500"); return 0; }
