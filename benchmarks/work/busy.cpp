// Uses a given amount of CPU time in a given way, then answers.
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#ifndef HOW
#define HOW 'p'
#define SECONDS 0.1
#endif

static double now(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void spin(double seconds) {
    double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end) {}
}

static double used() {
    rusage r;
    getrusage(RUSAGE_CHILDREN, &r);
    return now(CLOCK_PROCESS_CPUTIME_ID) + r.ru_utime.tv_sec + r.ru_stime.tv_sec +
           (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static void relay(bool first, int fd, double seconds) {
    char c = 0;
    while (now(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
        if (first && write(fd, &c, 1) < 0) break;
        if (!first && read(fd, &c, 1) <= 0) break;
        spin(0.005);
    }
    _exit(0);
}

int main() {
    double seconds = SECONDS;
    int ends[2];
    switch (HOW) {
        case 't':  // a thread
            std::thread(spin, seconds).join();
            break;
        case 'm':  // many short ones
            while (used() < seconds) std::thread(spin, 0.002).join();
            break;
        case 'f':  // children, one after the other
            while (used() < seconds) {
                if (fork() == 0) {
                    spin(0.01);
                    _exit(0);
                }
                wait(nullptr);
            }
            break;
        case 'c':  // children in a pipeline
            if (pipe(ends)) return 1;
            for (int i = 0; i < 2; i++)
                if (fork() == 0) {
                    close(ends[i]);
                    relay(i == 0, ends[1 - i], seconds / 2);
                }
            close(ends[0]), close(ends[1]);
            while (wait(nullptr) > 0) {}
            break;
        default: spin(seconds);
    }
    std::string line;
    std::getline(std::cin, line);
    std::cout << line << "\n";
}
