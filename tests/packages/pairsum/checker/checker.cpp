// Arguments: input, answer, output. The right number is worth all; one that is right in its last
// decimal digit is worth a fifth.
#include <cstdio>
#include <cstring>

static int finish(const char *score, const char *message) {
    printf("%s\n", score);
    fprintf(stderr, "%s\n", message);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    FILE *answer = fopen(argv[2], "r"), *output = fopen(argv[3], "r");
    char word[20], rest[2];
    long expected, given;
    if (!answer || fscanf(answer, "%19s %ld", word, &expected) != 2) return 2;
    if (!output || fscanf(output, "%19s", word) != 1 || strcmp(word, "result") != 0)
        return finish("0.0", "Output isn't correct: the grader did not print it");
    if (fscanf(output, "%ld", &given) != 1 || fscanf(output, "%1s", rest) == 1)
        return finish("0.0", "Output isn't correct: not one number");
    if (given == expected) return finish("1.0", "Output is correct");
    if (given % 10 == expected % 10) return finish("0.2", "Output is partially correct");
    return finish("0.0", "Output isn't correct");
}
