// Tries: to have the assembler put the answer's file into the program.
// Task: secret. Must get: CE.
#include <cstdio>
asm(".section .rodata\nanswer: .incbin \"@ANSWER@\"\n.byte 0\n.text");
extern const char answer[] asm("answer");
int main() { puts(answer); }
