#include "manager.h"
#include "decoder.h"
#include "encoder.h"
#include <fstream>
#include <iostream>

int main(int, char **argv) {
    if (argv[1][0] == '0') {
        int number;
        std::cin >> number;
        std::ofstream(argv[2]) << encode(number) << '\n';
        return 0;
    }
    std::string message;
    std::ifstream(argv[2]) >> message;
    if (message.size() > LONGEST || message.find_first_not_of("ab") != std::string::npos)
        std::cout << "not a message\n";
    else
        std::cout << decode(message) << '\n';
}
