// Tries: to make whoever collects its output wait for ever.
// Task: file. Must get: WA.
#include <sys/stat.h>
int main() { return mkfifo("sum.out", 0666); }
