// As: interactor. Says: signal 11.
#include <signal.h>
int main(void) { return raise(SIGSEGV); }
