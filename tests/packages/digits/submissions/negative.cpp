#include "digits.h"

#include <stdexcept>

int digit_sum(long long n) {
    if (n == 0) throw std::invalid_argument("no digits");
    return n < 10 ? n : n % 10 + digit_sum(n / 10);
}
