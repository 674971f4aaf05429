#include <iostream>
#include <string>

int main() {
    std::string what, word;
    std::cin >> what >> word;
    if (what == "hide") {
        int x = std::stoi(word);
        for (int bit = 9; bit >= 0; bit--) std::cout << (x >> bit & 1 ? 'b' : 'a');
    } else {
        int x = 0;
        for (char c : word) x = 2 * x + (c == 'b');
        std::cout << x;
    }
    std::cout << "\n";
}
