#include "climb.h"

#include <algorithm>

int climb(int n, const int *heights) {
    int best = 0, here = 0;
    for (int i = 0; i < n; i++) {
        here = i > 0 && heights[i] > heights[i - 1] ? here + 1 : 1;
        best = std::max(best, here);
    }
    return best;
}
