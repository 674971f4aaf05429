#include <cmath>
#include <iomanip>
#include <iostream>

int main() {
    int count;
    double x, y, a, b, total = 0;
    std::cin >> count >> x >> y;
    while (--count) {
        std::cin >> a >> b;
        total += std::hypot(x - a, y - b);
        x = a, y = b;
    }
    std::cout << std::fixed << std::setprecision(6) << "length " << total << "\n";
}
