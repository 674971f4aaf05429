// Tries: to keep the real stdout for itself and let the grader talk to nobody.
// Task: grader. Must get: WA.
#include <fcntl.h>
#include <unistd.h>
int twice(int number) {
    int real = dup(1);
    dup2(open("/dev/null", O_WRONLY), 1);
    return write(real, "done 1\n", 7) == 7 ? number : 0;
}
