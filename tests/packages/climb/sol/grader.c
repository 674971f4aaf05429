#include "climb.h"

#include <stdio.h>

#ifndef EVAL
#error "submissions are compiled with EVAL"
#endif

int main(void) {
    FILE *in = fopen("input.txt", "r"), *out = fopen("output.txt", "w");
    static int heights[1000];
    int n;
    if (!in || !out || fscanf(in, "%d", &n) != 1) return 1;
    for (int i = 0; i < n; i++)
        if (fscanf(in, "%d", &heights[i]) != 1) return 1;
    fprintf(out, "%d\n", climb(n, heights));
    return fclose(out) != 0;
}
