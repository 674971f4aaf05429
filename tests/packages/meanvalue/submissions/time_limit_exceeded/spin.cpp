int main() {
    volatile unsigned long turns = 0;
    for (;;) turns = turns + 1;
}
