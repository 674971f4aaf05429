#include "relay.h"

std::string send(int x) {
    std::string s;
    for (int bit = 0; bit < 16; bit++) s += x >> bit & 1 ? "11" : "00";
    return s;
}

int receive(std::string s) {
    int x = 0;
    for (int bit = 0; bit < 16; bit++) x |= (s[2 * bit] == '1') << bit;
    return x;
}
