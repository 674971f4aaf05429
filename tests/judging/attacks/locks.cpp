// Tries: to leave a note for the next run of itself, as a lock on a file that all cells see.
// Task: echo. Must get: AC.
// It answers wrongly if any lock can be had.
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <initializer_list>
#include <sys/file.h>
#include <unistd.h>
static bool refused(int result) { return result < 0 && errno == ENOSYS; }
int main() {
    char s[200];
    bool none = true;
    for (const char *path : {"/dev/null", "/etc/ld.so.cache", "/proc/self/exe"}) {
        int fd = open(path, O_RDONLY);
        if (fd < 0) continue;
        struct flock all = {};
        all.l_type = F_RDLCK;
        none = none && refused(flock(fd, LOCK_EX | LOCK_NB)) && refused(fcntl(fd, F_SETLK, &all))
            && refused(fcntl(fd, F_OFD_SETLK, &all)) && refused(fcntl(fd, F_GETLK, &all))
            && refused(fcntl(fd, F_OFD_GETLK, &all));
    }
    if (scanf("%199s", s) == 1) puts(none ? s : "locks can be had");
}
