#include <iostream>

int main() {
    long long n, k;
    std::cin >> n >> k;
    long long below = n / k * k;
    std::cout << (n - below <= k - (n - below) ? below : below + k) << "\n";
}
