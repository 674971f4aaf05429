#include "relay.h"

std::string send(int x) {
    std::string s;
    for (int bit = 0; bit < 16; bit++) s += x >> bit & 1 ? '1' : '0';
    return s;
}

int receive(std::string s) {
    int x = 0;
    for (int bit = 0; bit < 16; bit++) x |= (s[bit] == '1') << bit;
    return x;
}
