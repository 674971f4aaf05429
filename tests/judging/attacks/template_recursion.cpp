// Tries: to make the compiler recurse without end.
// Task: secret. Must get: CE.
template <int N> struct Deep { static const int value = Deep<N + 1>::value + 1; };
int main() { return Deep<0>::value; }
