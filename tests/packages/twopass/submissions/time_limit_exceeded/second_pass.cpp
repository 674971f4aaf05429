#include <iostream>
#include <string>

int main() {
    std::string what;
    std::cin >> what;
    volatile unsigned long turns = 0;
    while (what == "find") turns = turns + 1;
    std::cout << "ab\n";
}
