// Tries: to end well and to leave processes that go on, with its output in their hands.
// Task: secret. Must get: WA.
#include <cstdio>
#include <unistd.h>
int main() {
    for (int i = 0; i < 3; i++)
        if (!fork()) {
            setsid();
            for (;;) pause();
        }
    puts("nothing");
}
