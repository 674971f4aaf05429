// Tries: nothing: the second process does not guess, and the first tells what it was told.
// Task: open-secret. Must get: AC.
#include <cstdio>
#include <cstdlib>
int main(int, char **argv) {
    char word[100];
    if (scanf("%99s", word) != 1) return 1;
    puts(word);
    fflush(stdout);
    return atoi(argv[1]) > 1;
}
