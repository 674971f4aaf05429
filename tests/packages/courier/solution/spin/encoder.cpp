#include "encoder.h"

std::string encode(int number) {
    std::string message;
    for (int bit = 0; bit < 16; bit++) message += number >> bit & 1 ? 'b' : 'a';
    return message;
}
