#include <cstdlib>
#include <iostream>

int main() {
    int number;
    std::cin >> number;
    std::abort();
}
