#include "memo.h"
#include <fstream>
#include <iostream>
#include <string>

int main() {
    std::string phase, word, code;
    std::cout << "ask" << std::endl;
    std::cin >> phase >> word;
    if (phase == "hide") {
        int number = std::stoi(word);
        for (int bit = LONGEST; bit-- > 0;) code += number >> bit & 1 ? 'b' : 'a';
        std::cout << "! " << code << std::endl;
        return 0;
    }
    int number = 0, key = 0;
    for (char letter : word) number = 2 * number + (letter == 'b');
    std::ifstream here("key.txt"), deep("deep/key.txt");
    (here ? here : deep) >> key;
    std::cout << "! " << (number ^ key) << std::endl;
}
