// Tries: to write what is collected itself, by the descriptors and memory of who collects it.
// Task: file. Must get: WA.
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
int main() {
    char path[64];
    // A harvest of two entries that lead elsewhere, and one that is larger than there is.
    const char forged[] = "\0\x0b\0\0\0\0\0\0\0\2../../x.out42\0\7\0\0\0\0\0\0\0\2/etc/no42"
                          "\0\7\x7f\xff\xff\xff\xff\xff\xff\xffsum.out42";
    for (int fd = 3; fd < 64; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", getppid(), fd);
        int out = open(path, O_WRONLY);
        if (out >= 0 && write(out, forged, sizeof forged - 1) > 0) close(out);
        if (write(fd, forged, sizeof forged - 1) > 0) continue;
    }
    snprintf(path, sizeof path, "/proc/%d/mem", getppid());
    open(path, O_RDWR);
    iovec here = {path, 8}, there = {(void *)0x400000, 8};
    process_vm_writev(getppid(), &here, 1, &there, 1, 0);
}
