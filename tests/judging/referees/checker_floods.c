// As: checker testlib. Says: output|signal 25.
#include <stdio.h>
static char buffer[1 << 16];
int main(void) {
    setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
    for (;;) fputs("right right right right right right right\n", stderr);
}
