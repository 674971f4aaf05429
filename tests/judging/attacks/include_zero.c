// Tries: to make the compiler read without end.
// Task: secret. Must get: CE.
#include "/dev/zero"
int main(void) { return 0; }
