// Arguments: input, answer, output. A score on stdout, a message on stderr.
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char **argv) {
    if (argc < 4) return 1;
    std::ifstream input(argv[1]), answer(argv[2]), output(argv[3]);
    long long amount, fewest, sevens, fives, ones;
    if (!(input >> amount) || !(answer >> fewest)) return 1;
    bool read = bool(output >> sevens >> fives >> ones) && sevens >= 0 && fives >= 0 && ones >= 0;
    std::string more;
    if (output >> more) read = false;
    if (!read || sevens > amount || fives > amount || 7 * sevens + 5 * fives + ones != amount) {
        std::cout << 0 << std::endl;
        std::cerr << "not the amount" << std::endl;
    } else {
        std::cout << (sevens + fives + ones == fewest ? 1.0 : 0.5) << std::endl;
        std::cerr << "paid" << std::endl;
    }
}
