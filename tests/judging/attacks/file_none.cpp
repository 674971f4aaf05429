// Tries: to answer on stdout instead.
// Task: file. Must get: WA.
#include <cstdio>
int main() { puts("42"); }
