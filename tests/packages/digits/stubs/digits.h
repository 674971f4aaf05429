int digit_sum(long long n);
