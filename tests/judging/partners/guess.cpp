// Kattis interactor: the number is in the input; at most 20 questions "is it less than that?".
#include <cstdio>
#include <cstring>
int main(int, char **argv) {
    FILE *in = fopen(argv[1], "r");
    int number, guess;
    char word[32];
    if (fscanf(in, "%d", &number) != 1) return 1;
    for (int asked = 0; asked <= 20; asked++) {
        if (scanf("%31s", word) != 1) return 43;
        if (!strcmp(word, "!")) return scanf("%d", &guess) == 1 && guess == number ? 42 : 43;
        if (sscanf(word, "%d", &guess) != 1) return 43;
        printf("%d\n", number < guess);
        fflush(stdout);
    }
    return 43;
}
