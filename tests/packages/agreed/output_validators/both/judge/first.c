#include <stdio.h>

int main(int argc, char **argv) {
    FILE *input = fopen(argv[1], "r");
    long wanted, a, b;
    char more;
    if (argc < 4 || !input || fscanf(input, "%ld", &wanted) != 1) return 1;
    if (scanf("%ld %ld", &a, &b) != 2 || scanf(" %c", &more) == 1) return 43;
    return a > 0 && b > 0 && a + b == wanted ? 42 : 43;
}
