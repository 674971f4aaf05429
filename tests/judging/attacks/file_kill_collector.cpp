// Tries: to end the process that waits to collect its output.
// Task: file. Must get: RE.
#include <csignal>
#include <unistd.h>
int main() { kill(getppid(), SIGKILL); pause(); }
