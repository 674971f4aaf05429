#include "pairsum.h"

#include <cstring>

int pair_sum(std::vector<int> a) {
    // Touched, so that it is there.
    std::vector<char *> kept;
    for (int i = 0; i < 64; i++) {
        kept.push_back(new char[8 << 20]);
        memset(kept.back(), i + int(a.size()), 8 << 20);
    }
    return kept[a.size() % 64][0];
}
