#include <iostream>

int main() {
    long n;
    std::cin >> n;
    for (long d = 2; d * d <= n; ++d) {
        if (n % d == 0) {
            std::cout << d << "\n";
            return 0;
        }
    }
    std::cout << n << "\n";
}
