#include <iostream>
#include <vector>

int main() {
    std::vector<char> hoard(128 << 20, 1);
    int count;
    std::cin >> count;
    std::cout << "length " << int(hoard[count]) << "\n";
}
