#include "relay.h"

std::string send(int) { return "01"; }

int receive(std::string s) {
    volatile int turns = 0;
    while (!s.empty()) turns = turns + 1;
    return 0;
}
