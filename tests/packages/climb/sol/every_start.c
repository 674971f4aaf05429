// @check-accepted: *
#include "climb.h"

int climb(int n, const int *heights) {
    int best = 0;
    for (int i = 0; i < n; i++) {
        int j = i + 1;
        while (j < n && heights[j] > heights[j - 1]) j++;
        if (j - i > best) best = j - i;
    }
    return best;
}
