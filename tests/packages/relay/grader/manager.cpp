// Arguments: for each process, the pipe from it and the pipe to it. Input on stdin, score on stdout,
// message on stderr.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

static void finish(double score, const char *message) {
    printf("%g\n", score);
    fprintf(stderr, "%s\n", message);
    exit(0);
}

static std::string line(FILE *file) {
    std::string text;
    for (int c; (c = getc(file)) != EOF && c != '\n' && text.size() < 1000;) text += char(c);
    return text;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    if (argc < 5) return 2;
    FILE *to_sender = fopen(argv[2], "w"), *from_sender = fopen(argv[1], "r");
    FILE *to_receiver = fopen(argv[4], "w"), *from_receiver = fopen(argv[3], "r");
    int x;
    if (!to_sender || !from_sender || !to_receiver || !from_receiver || !(std::cin >> x)) return 2;
    fprintf(to_sender, "%d\n", x);
    fflush(to_sender);
    std::string word = line(from_sender);
    if (word.find_first_not_of("01") != std::string::npos) finish(0, "Output isn't correct: not a word of 0 and 1");
    // An empty word must still be a word on the way.
    fprintf(to_receiver, "%s\n", word.empty() ? "-" : word.c_str());
    fflush(to_receiver);
    if (line(from_receiver) != std::to_string(x)) finish(0, "Output isn't correct: another number arrived");
    if (word.size() <= 16) finish(1, "Output is correct");
    if (word.size() <= 32) finish(0.5, "Output is partially correct");
    finish(0, "Output isn't correct: the word is too long");
}
