#include <iostream>
int main() {
    int number;
    std::cin >> number;
    std::cout << number - 1 << "\n1\n";
}
