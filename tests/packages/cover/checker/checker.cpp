// Numbers 1 to n are to be covered by segments of k that begin at the numbers given. The fewest
// segments are worth all, more a share of it. Arguments: input, answer, output.
#include <cstdio>
#include <vector>

static int finish(double score, const char *message) {
    printf("%.6f\n", score);
    fprintf(stderr, "%s\n", message);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    FILE *input = fopen(argv[1], "r"), *answer = fopen(argv[2], "r"), *output = fopen(argv[3], "r");
    int n, k, fewest, count = 0, begin;
    if (!input || fscanf(input, "%d %d", &n, &k) != 2) return 2;
    if (!answer || fscanf(answer, "%d", &fewest) != 1) return 2;
    if (!output) return finish(0, "Output isn't correct: no file");
    std::vector<bool> covered(n + 1);
    while (fscanf(output, "%d", &begin) == 1) {
        if (begin < 1 || begin > n || ++count > n) return finish(0, "Output isn't correct: out of range");
        for (int i = begin; i < begin + k && i <= n; i++) covered[i] = true;
    }
    if (!feof(output)) return finish(0, "Output isn't correct: not numbers");
    for (int i = 1; i <= n; i++)
        if (!covered[i]) return finish(0, "Output isn't correct: a number is not covered");
    if (count == fewest) return finish(1, "Output is correct");
    return finish(double(fewest) / count, "Output is partially correct");
}
