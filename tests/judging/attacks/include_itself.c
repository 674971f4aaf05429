// Tries: to nest without end.
// Task: secret. Must get: CE.
#include __FILE__
int main(void) { return 0; }
