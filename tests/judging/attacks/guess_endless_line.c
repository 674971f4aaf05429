// Tries: to have the interactor use up its memory, by a line that never ends. It cannot gain by
// that: who makes an interactor fail is to blame. That it is not OLE is a gap: bytes that go
// through a pipe are not counted.
// Task: guess-python. Must get: WA OLE TLE.
#include <string.h>
#include <unistd.h>
int main(void) {
    static char line[1 << 16];
    memset(line, '1', sizeof line);
    while (write(1, line, sizeof line) > 0) {}
    return 0;
}
