// Tries: to compile the answer in from where other judges leave it.
// Task: secret. Must get: CE.
#include <cstdio>
const char *answer =
#include "../correct_output.txt"
    ;
int main() { puts(answer); }
