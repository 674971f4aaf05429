int main() {
    volatile int turns = 0;
    for (;;) turns = turns + 1;
}
