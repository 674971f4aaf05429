#include <string>

int decode(const std::string &message);
