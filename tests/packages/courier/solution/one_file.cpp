#include "decoder.h"
#include "encoder.h"

std::string encode(int number) {
    return number ? encode(number / 2) + (number % 2 ? 'b' : 'a') : "";
}

int decode(const std::string &message) {
    int number = 0;
    for (char letter : message) number = 2 * number + (letter == 'b');
    return number;
}
