#include "encoder.h"

int remembered = 1;

std::string encode(int number) {
    remembered = number;
    return "a";
}
