// Tries: to have the interactor die of a broken pipe while it itself goes on.
// Task: guess. Must get: WA.
#include <stdio.h>
#include <unistd.h>
int main(void) {
    close(0);
    for (int i = 0; i < 100000; i++) {
        char line[] = "500\n";
        if (write(1, line, 4) != 4) break;
    }
    close(1);
    sleep(1);
    return 0;
}
