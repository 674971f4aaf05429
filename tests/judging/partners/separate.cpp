// Manager of two processes: tells the first a word, which the second must say. Argument "open":
// both are told.
#include <cstdio>
#include <cstring>
int main(int argc, char **argv) {
    char word[100], said[2][100] = {"", ""};
    if (scanf("%99s", word) != 1) return 1;
    FILE *from[2] = {fopen(argv[1], "r"), fopen(argv[3], "r")};
    FILE *to[2] = {fopen(argv[2], "w"), fopen(argv[4], "w")};
    bool open = argc > 5 && !strcmp(argv[5], "open");
    for (int i = 0; i < 2; i++) {
        fprintf(to[i], "%s\n", i == 0 || open ? word : "guess");
        fflush(to[i]);
    }
    for (int i = 0; i < 2; i++)
        if (fscanf(from[i], "%99s", said[i]) != 1) fprintf(stderr, "nothing from %d\n", i);
    puts(strcmp(said[1], word) ? "0.0" : "1.0");
}
