// Tries: nothing; it knows the answer because the judge of this test tells it.
// Task: echo. Must get: AC.
#include <cstdio>
int main() { char s[200]; if (scanf("%199s", s) == 1) puts(s); }
