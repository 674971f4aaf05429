#include "decoder.h"
#include <cstdlib>

int decode(const std::string &) { abort(); }
