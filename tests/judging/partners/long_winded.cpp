// Manager that says more than a pipe holds, then reads one word.
#include <cstdio>
int main(int, char **argv) {
    char word[100];
    FILE *from = fopen(argv[1], "r"), *to = fopen(argv[2], "w");
    for (int i = 0; i < 100000; i++) fprintf(to, "%d\n", i);
    fflush(to);
    puts(fscanf(from, "%99s", word) == 1 ? "1.0" : "0.0");
}
