# title: Files that are taken into the program while it is compiled
# kind: compile
# must: held
# language: c
# source: printed
print(r"""#include <stdio.h>
asm(".data\n.globl taken\ntaken: .incbin \\"/proc/1/environ\\"\n.incbin \\"/etc/shadow\\"\n.text\n");
int main(void) { puts("through: they were read"); }""")
