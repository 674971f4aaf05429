#include "mirror.h"

#include <fstream>

// Two pipes: from the manager, and to it.
int main(int argc, char **argv) {
    if (argc < 3) return 1;
    std::ifstream in(argv[1]);
    std::ofstream out(argv[2]);
    for (long long x; in >> x && x != 0;) out << mirror(x) << std::endl;
}
