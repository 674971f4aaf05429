// @check-accepted: examples
// @check-zero: different any
#include "climb.h"

#include <stdexcept>

int climb(int n, const int *heights) {
    if (n > 3) throw std::runtime_error("too many");
    return n < 2 ? n : heights[0] < heights[1] ? 3 : 2;
}
