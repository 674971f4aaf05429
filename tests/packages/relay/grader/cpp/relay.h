#include <string>

std::string send(int x);
int receive(std::string s);
