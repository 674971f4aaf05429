#include "decoder.h"

extern int remembered;

int decode(const std::string &) { return remembered; }
