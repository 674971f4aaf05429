// As: checker testlib. Says: signal 6.
#include <stdio.h>
#include <stdlib.h>
int main(void) { puts("1"); fflush(stdout); abort(); }
