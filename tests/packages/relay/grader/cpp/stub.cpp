#include "relay.h"

#include <iostream>

// The one argument says which of the two it is; stdin and stdout lead to the manager.
int main(int argc, char **argv) {
    if (argc < 2) return 1;
    if (std::string(argv[1]) == "0") {
        int x;
        if (!(std::cin >> x)) return 0;
        std::cout << send(x) << std::endl;
    } else {
        std::string s;
        if (!(std::cin >> s)) return 0;
        std::cout << receive(s == "-" ? "" : s) << std::endl;
    }
    return 0;
}
