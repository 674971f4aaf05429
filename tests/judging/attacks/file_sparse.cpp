// Tries: to hand in a file of a terabyte that takes no space.
// Task: file. Must get: WA OLE RE.
#include <fcntl.h>
#include <unistd.h>
int main() {
    int out = open("sum.out", O_CREAT | O_WRONLY, 0666);
    return ftruncate(out, 1ll << 40) < 0 ? 3 : 0;
}
