// Crashes after the first answer; what the referee makes of the silence does not count.
#include <cstdlib>
#include <iostream>
#include <string>

int main() {
    std::string answer;
    std::cout << 1001 / 2 + 1 << std::endl;
    std::cin >> answer;
    std::abort();
}
