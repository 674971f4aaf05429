// @check-accepted: examples
// @check-wrong-answer: one-digit more-digits
#include "mirror.h"

long long mirror(long long x) { return x % 10 * 10 + x / 10; }
