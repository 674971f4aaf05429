#include <iostream>

int main() {
    int number, echo;
    std::cin >> number;
    while (number--) {
        std::cout << number << std::endl;
        if (!(std::cin >> echo) || echo != number) return 1;
    }
}
