long long mirror(long long x);
