# title: A few lines that compile to gigabytes
# kind: compile
# must: held
# language: c
# source: printed
print(r"""#include <stdio.h>
asm(".data\n.fill 2000000000,1,1\n.text\n");
int main(void) { puts("through: it was compiled"); }""")
