#include "digits.h"

int digit_sum(long long n) { return n < 10 ? n : n % 10 + digit_sum(n / 10); }
