// Tries: to crash, which makes the interactor complain.
// Task: guess. Must get: RE.
#include <stdio.h>
#include <stdlib.h>
int main(void) { puts("500"); fflush(stdout); abort(); }
