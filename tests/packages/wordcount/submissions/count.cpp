#include <iostream>
#include <map>
#include <string>

int main() {
    std::map<std::string, int, std::greater<std::string>> times;
    std::string word;
    while (std::cin >> word) times[word]++;
    for (auto &[key, count] : times) std::cout << key << " " << count << "\n";
}
