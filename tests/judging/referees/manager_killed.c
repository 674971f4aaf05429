// As: manager. Says: signal 9.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void) { puts("1.0"); fflush(stdout); kill(getpid(), SIGKILL); return 0; }
