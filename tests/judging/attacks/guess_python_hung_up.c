// Tries: to have an interactor in Python end with a broken pipe.
// Task: guess-python. Must get: WA ILE.
#include <unistd.h>
int main(void) {
    close(0);
    for (int i = 0; i < 100000; i++)
        if (write(1, "500\n", 4) != 4) break;
    return 0;
}
