// Tries: to compile the answer in from the very file the judge reads it from.
// Task: secret. Must get: CE.
#include <cstdio>
#include "@ANSWER@"
int main() { puts(ANSWER); }
