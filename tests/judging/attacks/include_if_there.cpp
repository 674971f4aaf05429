// Tries: to learn at compile time whether files of the host are there.
// Task: secret. Must get: WA.
#include <cstdio>
#if __has_include("@ANSWER@")
#include "@ANSWER@"
#elif __has_include("/root/.bashrc") || __has_include("/etc/shadow") || __has_include("@CACHE@/compiled")
#error "the host's files are there"
#else
#define ANSWER "nothing"
#endif
int main() { puts(ANSWER); }
