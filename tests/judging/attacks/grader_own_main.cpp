// Tries: to take the place of the grader's main.
// Task: grader. Must get: CE.
#include <cstdio>
int twice(int number) { return number; }
int main() { puts("done 42"); }
