// Tries: to have the judge hand the answer to the second run, by a link in the file's place.
// Task: steps. Must get: WA.
#include "steps.h"
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

int encode(const char *) {
    unlink("fifo");
    if (symlink("@ANSWER@", "fifo")) return 1;
    _exit(0);
}

__attribute__((constructor)) static void look() {
    char word[200] = "";
    FILE *file = fopen("fifo", "r");
    if (file && fscanf(file, "#define ANSWER \"%199[^\"]", word) == 1) {
        puts(word);
        fflush(stdout);
        _exit(0);
    }
}

const char *decode(int) { return "nothing"; }
