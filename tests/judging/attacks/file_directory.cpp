// Tries: to confuse whoever collects its output with a directory.
// Task: file. Must get: WA.
#include <sys/stat.h>
int main() { return mkdir("sum.out", 0777); }
