// @check-wrong-answer: *
#include <iostream>

int main() {
    int amount;
    std::cin >> amount;
    std::cout << amount / 7 << " 0 0\n";
}
