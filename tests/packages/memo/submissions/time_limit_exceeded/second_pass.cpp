#include <iostream>
#include <string>

int main() {
    std::string phase, word;
    std::cout << "ask" << std::endl;
    std::cin >> phase >> word;
    if (phase == "find")
        for (volatile int i = 0;; i = i + 1) {}
    std::cout << "! ab" << std::endl;
}
