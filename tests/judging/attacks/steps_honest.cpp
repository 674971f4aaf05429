// Tries: nothing. The first letter fits into a number.
// Task: steps-open. Must get: AC.
#include "steps.h"

int encode(const char *word) { return word[0]; }

const char *decode(int number) {
    static char word[2];
    word[0] = char(number);
    return word;
}
