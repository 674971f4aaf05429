// Tries: to confuse the interactor.
// Task: guess. Must get: WA.
#include <stdio.h>
int main(void) { fwrite("\0\xff nan -1e999 !\n! ! 42\n", 1, 24, stdout); return 0; }
