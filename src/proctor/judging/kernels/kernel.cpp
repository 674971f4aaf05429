// Fixed work for compiled programs: integers, memory that no cache holds, sorting, floating point.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <unordered_map>
#include <vector>

int main() {
    std::uint32_t seed = 12345;
    auto next = [&seed] { return seed = seed * 1103515245u + 12345u; };
    std::vector<std::uint32_t> numbers(300000);
    for (auto& each : numbers) each = next() >> 8;
    std::sort(numbers.begin(), numbers.end());
    std::unordered_map<std::uint32_t, std::uint32_t> seen;
    for (int i = 0; i < 150000; ++i) seen[next() % 40000] += i;
    std::vector<std::uint32_t> chain(1 << 20);
    for (std::uint32_t i = 0; i < chain.size(); ++i) chain[i] = (i * 1664525u + 1013904223u) & (chain.size() - 1);
    std::uint32_t at = 0;
    for (int i = 0; i < 500000; ++i) at = chain[at] ^ (i & 7);
    double sum = 0;
    for (int i = 1; i < 3000000; ++i) sum += 1.0 / (static_cast<double>(i) * (i + 1));
    std::printf("%u %u %.6f\n", at, numbers[1000] + static_cast<std::uint32_t>(seen.size()), sum);
}
