// Tries: to say nothing, so that both wait.
// Task: guess. Must get: ILE.
#include <stdio.h>
int main(void) { return getchar() == EOF; }
