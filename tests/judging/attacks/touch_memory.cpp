// Tries: to use 400 MB where 256 are allowed.
// Task: secret. Must get: MLE.
#include <cstdlib>
int main() {
    volatile char *space = (volatile char *)malloc(400 << 20);
    for (long at = 0; at < 400 << 20; at += 4096) space[at] = 1;
    return space[4096] - 1;
}
