// Arguments: the pipe from the process and the pipe to it. Input on stdin, score on stdout.
#include <csignal>
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    if (argc < 3) return 2;
    std::ofstream to(argv[2]);
    std::ifstream from(argv[1]);
    std::string x;
    if (!(std::cin >> x)) return 2;
    bool right = true;
    // The mirror's mirror is the number itself: ask for it as well.
    std::string wanted(x.rbegin(), x.rend()), answer;
    to << x << std::endl;
    right = bool(from >> answer) && answer == wanted;
    if (right) {
        to << answer << std::endl;
        right = bool(from >> answer) && answer == x;
    }
    to << 0 << std::endl;
    std::cout << (right ? 1 : 0) << std::endl;
    std::cerr << (right ? "right" : "no mirror") << std::endl;
}
