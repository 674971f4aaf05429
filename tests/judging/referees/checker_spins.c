// As: checker testlib. Says: cpu.
int main(void) { for (volatile int i = 0;; i++) {} }
