// Tries: the same with a file of the host's that only root may read.
// Task: secret. Must get: CE.
__asm__(".section .rodata\nhost: .incbin \"/etc/shadow\"\n.text");
int main(void) { return 0; }
