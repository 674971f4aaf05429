// Manager of a TwoSteps task: a number is all that may go from the first run to the second.
#include "steps.h"
#include <cstdio>

int main(int, char **argv) {
    char word[200] = "";
    int number = 0;
    if (argv[1][0] == '0') {
        if (scanf("%199s", word) != 1) return 1;
        number = encode(word);
        FILE *file = fopen(argv[2], "w");
        if (!file) return 2;
        fprintf(file, "%d\n", number);
        return fclose(file);
    }
    FILE *file = fopen(argv[2], "r");
    if (!file || fscanf(file, "%d", &number) != 1) return 3;
    puts(decode(number));
}
