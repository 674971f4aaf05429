#include "climb.h"

#include <fstream>
#include <vector>

int main() {
    std::ifstream in("input.txt");
    int n;
    in >> n;
    std::vector<int> heights(n);
    for (int &height : heights) in >> height;
    std::ofstream("output.txt") << climb(n, heights.data()) << '\n';
}
