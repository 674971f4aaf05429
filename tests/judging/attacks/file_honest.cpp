// Tries: nothing.
// Task: file. Must get: AC.
#include <cstdio>
int main() {
    int number = 0;
    FILE *in = fopen("sum.in", "r"), *out = fopen("sum.out", "w");
    if (fscanf(in, "%d", &number) == 1) fprintf(out, "%d\n", 2 * number);
    fclose(out);
}
