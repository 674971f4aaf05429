// 10 is two coins of 5.
// @check-partial-score: *
#include <iostream>

int main() {
    int amount;
    std::cin >> amount;
    std::cout << amount / 7 << ' ' << amount % 7 / 5 << ' ' << amount % 7 % 5 << '\n';
}
