// Tries: to have the interactor use up its own time, by questions that cost nothing to ask.
// Task: guess-python. Must get: TLE WA.
#include <string.h>
#include <unistd.h>
int main(void) {
    static char lines[1 << 16], answers[1 << 16];
    for (int i = 0; i < 1 << 16; i += 2) memcpy(lines + i, "1\n", 2);
    if (!fork()) while (read(0, answers, sizeof answers) > 0) {}
    close(0);
    while (write(1, lines, sizeof lines) > 0) {}
    return 0;
}
