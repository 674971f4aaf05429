// Tries: to read what the compiler was given on stdin.
// Task: secret. Must get: WA.
#include <stdio.h>
#include "/dev/stdin"
#ifndef ANSWER
#define ANSWER "nothing"
#endif
int main(void) { return puts(ANSWER) < 0; }
