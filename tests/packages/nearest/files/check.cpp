#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "words.h"

static long long distance(long long n, long long multiple) { return std::llabs(n - multiple); }

int main(int, char** argv) {
    std::ifstream input(argv[1]), output(argv[2]), answer(argv[3]);
    long long n, k, best, found;
    if (!(input >> n >> k) || !(answer >> best)) return FAILED;
    std::string rest;
    if (!(output >> found) || output >> rest) {
        std::cerr << "one number is expected\n";
        return ILL_FORMED;
    }
    if (found % k != 0) {
        std::cerr << "not a multiple\n";
        return WRONG;
    }
    if (distance(n, found) < distance(n, best)) {
        std::cerr << "better than the answer\n";
        return FAILED;
    }
    return distance(n, found) == distance(n, best) ? OK : WRONG;
}
