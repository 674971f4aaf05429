#include <fstream>
#include <string>

#include "limits.h"

// Any divisor above 1 is right. Called with the names of input, output and answer.
int main(int argc, char *argv[]) {
    std::ifstream input(argv[1]), output(argv[2]), answer(argv[3]);
    long n, given, known;
    if (!(input >> n) || !(answer >> known) || n % known != 0) return 3;
    std::string more;
    if (!(output >> given) || output >> more) return 2;
    return LEAST <= given && n % given == 0 ? 0 : 1;
}
