#include "climb.h"

int climb(int n, const int *heights) { return 0; }
