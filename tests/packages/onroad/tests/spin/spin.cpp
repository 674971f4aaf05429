#include <cmath>
#include <iostream>

// Knows roads of one piece.
int main() {
    int count;
    double x, y, a, b;
    std::cin >> count >> x >> y;
    volatile bool wait = count > 2;
    while (wait) {
    }
    a = x, b = y;
    std::cin >> a >> b;
    std::cout << "length " << (count == 1 ? 0 : std::hypot(x - a, y - b)) << "\n";
}
