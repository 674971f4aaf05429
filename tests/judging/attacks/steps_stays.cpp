// Tries: to leave a process behind that tells the second run, by sockets and by its memory.
// Task: steps. Must get: WA.
#include "steps.h"
#include <arpa/inet.h>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static sockaddr_un local() {
    sockaddr_un name{AF_UNIX, {}};
    memcpy(name.sun_path, "\0proctor-steps", 14);
    return name;
}

static sockaddr_in loopback() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(41974);
    inet_pton(AF_INET, "127.0.0.1", &name.sin_addr);
    return name;
}

static const socklen_t LENGTH = offsetof(sockaddr_un, sun_path) + 14;

int encode(const char *word) {
    if (fork() == 0) {
        setsid();
        for (int fd = 0; fd < 64; fd++) close(fd);
        sockaddr_un name = local();
        sockaddr_in net = loopback();
        int one = socket(AF_UNIX, SOCK_DGRAM, 0), two = socket(AF_INET, SOCK_DGRAM, 0);
        for (;;) {
            if (one >= 0) sendto(one, word, strlen(word), 0, (sockaddr *)&name, LENGTH);
            if (two >= 0) sendto(two, word, strlen(word), 0, (sockaddr *)&net, sizeof net);
            usleep(1000);
        }
    }
    return 1;
}

const char *decode(int) {
    static char word[200] = "";
    sockaddr_un name = local();
    sockaddr_in net = loopback();
    int one = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    int two = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (one >= 0) bind(one, (sockaddr *)&name, LENGTH);
    if (two >= 0) bind(two, (sockaddr *)&net, sizeof net);
    for (int i = 0; i < 500; i++) {
        for (int fd : {one, two})
            if (fd >= 0 && recv(fd, word, sizeof word - 1, 0) > 0) return word;
        // Not each time: 200,000 opens can take the whole limit, and it would be TLE.
        for (int pid = 1; pid < 400 && i % 50 == 0; pid++) {
            char place[64];
            snprintf(place, sizeof place, "/proc/%d/cmdline", pid);
            FILE *file = pid == getpid() ? nullptr : fopen(place, "r");
            if (!file) continue;
            char text[200] = "";
            bool mine = fread(text, 1, sizeof text - 1, file) > 0 && strstr(text, "fifo");
            fclose(file);
            if (mine) return "somebody is still here";
        }
        usleep(1000);
    }
    return "nothing";
}
