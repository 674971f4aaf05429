#include <string>

std::string encode(int number);
