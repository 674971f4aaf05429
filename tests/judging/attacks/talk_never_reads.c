// Tries: to make the manager wait for it for ever.
// Task: long-winded. Must get: ILE.
#include <unistd.h>
int main(void) { for (;;) pause(); }
