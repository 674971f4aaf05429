// As: interactor. Says: output|signal 25.
#include <stdio.h>
static char buffer[1 << 16];
int main(void) {
    setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
    for (;;) fputs("word word word word word word word word word\n", stderr);
}
