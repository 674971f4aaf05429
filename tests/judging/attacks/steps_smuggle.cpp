// Tries: to leave the word for the second run in files, links, shared memory, a message queue.
// Task: steps. Must get: WA.
#include "steps.h"
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const PLACES[] = {
    "told", "../told", "/tmp/proctor-steps", "/dev/shm/proctor-steps", "/var/tmp/proctor-steps",
    "/run/proctor-steps", "/box/proctor-steps", "/box/work/told", "encoder.o", "../fifo.told"};

struct Letter {
    long kind;
    char text[200];
};

int encode(const char *word) {
    for (const char *place : PLACES) {
        if (FILE *file = fopen(place, "w")) {
            fputs(word, file);
            fclose(file);
        }
        char link[300];
        snprintf(link, sizeof link, "%s-link", place);
        if (symlink(word, link)) continue;
    }
    mkdir(word, 0777);
    rename("fifo", "../fifo.told");
    int id = shmget(0x73746570, 4096, IPC_CREAT | 0666);
    if (id >= 0) {
        char *shared = (char *)shmat(id, nullptr, 0);
        if (shared != (char *)-1) strcpy(shared, word);
    }
    Letter letter{1, ""};
    strcpy(letter.text, word);
    int queue = msgget(0x73746570, IPC_CREAT | 0666);
    if (queue >= 0) msgsnd(queue, &letter, sizeof letter.text, IPC_NOWAIT);
    return 1;
}

const char *decode(int) {
    static char word[200] = "";
    for (const char *place : PLACES) {
        if (FILE *file = fopen(place, "r")) {
            if (fscanf(file, "%199s", word) == 1) return word;
            fclose(file);
        }
        char link[300];
        snprintf(link, sizeof link, "%s-link", place);
        if (readlink(link, word, sizeof word - 1) > 0) return word;
    }
    int id = shmget(0x73746570, 4096, 0666);
    if (id >= 0) {
        char *shared = (char *)shmat(id, nullptr, 0);
        if (shared != (char *)-1 && *shared) return shared;
    }
    static Letter letter;
    int queue = msgget(0x73746570, 0666);
    if (queue >= 0 && msgrcv(queue, &letter, sizeof letter.text, 0, IPC_NOWAIT) > 0)
        return letter.text;
    return "nothing";
}
