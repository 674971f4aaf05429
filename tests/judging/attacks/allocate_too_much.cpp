// Tries: to allocate more than any limit; the limit is why it cannot.
// Task: secret. Must get: MLE.
#include <vector>
int main() {
    std::vector<char> all(1ull << 45);
    return all[7];
}
