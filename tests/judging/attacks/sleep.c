// Tries: to sit in its cell without computing.
// Task: secret. Must get: ILE.
#include <unistd.h>
int main(void) { for (;;) pause(); }
