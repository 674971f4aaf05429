// Tries: to stop the process that waits to collect its output.
// Task: file. Must get: ILE.
#include <csignal>
#include <unistd.h>
int main() { kill(getppid(), SIGSTOP); }
