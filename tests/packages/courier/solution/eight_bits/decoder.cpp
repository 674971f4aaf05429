#include "decoder.h"

int decode(const std::string &message) {
    int number = 0;
    for (int bit = 0; bit < 8; bit++) number |= (message[bit] == 'b') << bit;
    return number;
}
