// Tries: to read the answer from any descriptor it was started with, from its beginning.
// Task: secret. Must get: WA.
#include <cstdio>
#include <cstring>
#include <unistd.h>
int main() {
    static char buffer[1 << 20];
    for (int fd = 0; fd < 1024; fd++) {
        long got = pread(fd, buffer, sizeof buffer - 1, 0);
        for (long at = 0; at + 47 < got; at++)
            if (!memcmp(buffer + at, "proctor-secret-", 15)) {
                printf("%.47s\n", buffer + at);
                return 0;
            }
    }
    puts("nothing");
}
