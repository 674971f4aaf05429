// Tries: to hand in the judge's own answer, by a link.
// Task: file. Must get: WA.
#include <unistd.h>
int main() { return symlink("@ANSWER@", "sum.out"); }
