// Tries: to tell the other process by files, sockets, shared memory, named pipes, signals.
// Task: separate. Must get: WA.
#include <arpa/inet.h>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *const PLACES[] = {"/tmp/proctor-told", "/dev/shm/proctor-told", "proctor-told",
                                     "/var/tmp/proctor-told", "../proctor-told"};

static sockaddr_un abstract() {
    sockaddr_un name{AF_UNIX, {}};
    memcpy(name.sun_path, "\0proctor-told", 13);
    return name;
}

static sockaddr_in loopback() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(41973);
    inet_pton(AF_INET, "127.0.0.1", &name.sin_addr);
    return name;
}

static void tell(const char *word) {
    for (const char *place : PLACES)
        if (FILE *file = fopen(place, "w")) {
            fputs(word, file);
            fclose(file);
        }
    int id = shmget(0x70726f63, 4096, IPC_CREAT | 0666);
    if (id >= 0) {
        char *shared = (char *)shmat(id, nullptr, 0);
        if (shared != (char *)-1) strcpy(shared, word);
    }
    sockaddr_un local = abstract();
    sockaddr_in net = loopback();
    int one = socket(AF_UNIX, SOCK_DGRAM, 0), two = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < 200; i++) {
        if (one >= 0)
            sendto(one, word, strlen(word), 0, (sockaddr *)&local, offsetof(sockaddr_un, sun_path) + 13);
        if (two >= 0) sendto(two, word, strlen(word), 0, (sockaddr *)&net, sizeof net);
        for (int pid = 2; pid < 60; pid++)
            if (pid != getpid() && pid != getppid()) kill(pid, 0);
        usleep(5000);
    }
}

static std::string hear() {
    char word[200] = "";
    sockaddr_un local = abstract();
    sockaddr_in net = loopback();
    int one = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    int two = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (one >= 0) bind(one, (sockaddr *)&local, offsetof(sockaddr_un, sun_path) + 13);
    if (two >= 0) bind(two, (sockaddr *)&net, sizeof net);
    for (int i = 0; i < 200; i++) {
        for (int fd : {one, two})
            if (fd >= 0 && recv(fd, word, sizeof word - 1, 0) > 0) return word;
        for (const char *place : PLACES)
            if (FILE *file = fopen(place, "r")) {
                if (fscanf(file, "%199s", word) == 1) return word;
                fclose(file);
            }
        int id = shmget(0x70726f63, 4096, 0666);
        if (id >= 0) {
            char *shared = (char *)shmat(id, nullptr, 0);
            if (shared != (char *)-1 && *shared) return shared;
        }
        usleep(5000);
    }
    return "nothing";
}

int main(int, char **argv) {
    char word[200];
    if (scanf("%199s", word) != 1) return 1;
    if (argv[1][0] == '0') {
        tell(word);
        puts("told");
    } else {
        puts(hear().c_str());
    }
}
