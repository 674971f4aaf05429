// Tries: the same by a path that starts at a directory compilers may read.
// Task: secret. Must get: CE.
#include <cstdio>
#include "/usr/include/../..@ANSWER@"
int main() { puts(ANSWER); }
