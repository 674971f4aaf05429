#include <iostream>

// Right as long as an unsigned number of 32 bits will do, and never stuck on a larger one.
int main() {
    long long n, k;
    std::cin >> n >> k;
    unsigned low = n;
    unsigned below = low / (unsigned)k * (unsigned)k;
    unsigned rest = low - below;
    std::cout << (rest <= k - rest ? below : below + (unsigned)k) << "\n";
}
