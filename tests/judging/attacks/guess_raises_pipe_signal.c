// Tries: to pass for somebody who was hung up on.
// Task: guess. Must get: WA RE.
#include <signal.h>
int main(void) { return raise(SIGPIPE); }
