// Tries: nothing forbidden: it fails while its standard error is closed.
// Task: secret. Must get: RE.
#include <cstdlib>
#include <unistd.h>
int main() { close(2); abort(); }
